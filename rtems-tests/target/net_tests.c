/* SPDX-License-Identifier: BSD-2-Clause */
/* The servers of the image, tried through its own loopback interface; the runner tries them from the host as well. */

#include "selftest.h"
#include "os/rtems/image.h"

#ifdef RTEMS_IOC_STACK_NONE

const struct selftest net_tests[] = { { NULL, NULL } };

#else

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <rtems.h>
#include <rtems/libio_.h>

#include "rtems_ioc_server.h"

#define ECHO_PORT 4445
#define CA_PORT 5064
#define STARTS 100
#define CHUNK 1000

static unsigned open_descriptors(void)
{
  unsigned used = 0;
  for (uint32_t i = 0; i < rtems_libio_number_iops; ++i) {
    used += fcntl((int) i, F_GETFL) >= 0;
  }
  return used;
}

static uint64_t milliseconds(void)
{
  return rtems_clock_get_uptime_nanoseconds() / 1000000;
}

/* A blocking connection to a port of this image, or -1. */
static int dial(unsigned port)
{
  struct sockaddr_in address;
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);

  if (descriptor < 0) {
    return -1;
  }
  memset(&address, 0, sizeof(address));
  address.sin_len = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, (struct sockaddr *) &address, sizeof(address)) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

/* Sends so many bytes, at most CHUNK, and gets them back; false when anything is missing or different. */
static bool echo_bytes(int descriptor, size_t bytes)
{
  static unsigned char out[CHUNK];
  static unsigned char in[CHUNK];
  size_t have = 0;

  for (size_t i = 0; i < bytes; ++i) {
    out[i] = (unsigned char) selftest_random();
  }
  if (send(descriptor, out, bytes, 0) != (ssize_t) bytes) {
    return false;
  }
  while (have < bytes) {
    ssize_t n = recv(descriptor, in + have, bytes - have, 0);
    if (n <= 0) {
      return false;
    }
    have += (size_t) n;
  }
  return memcmp(in, out, bytes) == 0;
}

static bool echo(int descriptor)
{
  return echo_bytes(descriptor, CHUNK);
}

static void echo_load(void)
{
  int descriptor = dial(ECHO_PORT);
  unsigned bad = 0;

  REQUIRE(descriptor >= 0);
  for (unsigned i = 0; i < 500; ++i) {
    bad += !echo(descriptor);
  }
  close(descriptor);
  printf("500 chunks echoed, %u bad\n", bad);
  CHECK(bad == 0);
}

/* The same when it has not changed for a second: the network's own tasks open and close some. At most 20 s. */
static unsigned settled_descriptors(void)
{
  unsigned last = open_descriptors();

  for (unsigned same = 0, i = 0; same < 10 && i < 200; ++i) {
    unsigned now;
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 10);
    now = open_descriptors();
    same = now == last ? same + 1 : 0;
    last = now;
  }
  return last;
}

/* Stops while one client is idle and another has data under way: no task stays behind, no descriptor is lost. */
static void restarts(void)
{
  uint64_t slowest = 0;
  unsigned slow = 0;
  unsigned before;
  unsigned after;
  unsigned failed = 0;

  rtems_ioc_stop();
  before = settled_descriptors();
  for (unsigned i = 0; i < STARTS; ++i) {
    if (rtems_ioc_start() != 0) {
      ++failed;
      continue;
    }
    int idle = dial(ECHO_PORT);
    int active = dial(ECHO_PORT);
    failed += idle < 0 || active < 0 || !echo(active);
    if (active >= 0) {
      send(active, "under way", 9, 0);
    }
    uint64_t start = milliseconds();
    rtems_ioc_stop();
    uint64_t took = milliseconds() - start;
    slowest = took > slowest ? took : slowest;
    slow += took >= 1000;
    close(idle);
    close(active);
  }
  rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 10);
  printf("%u starts and stops with an idle and an active client, %u failed\n", STARTS, failed);
  after = settled_descriptors();
  printf("- slowest stop %u ms, descriptors %u before and %u after\n", (unsigned) slowest, before, after);
  CHECK(failed == 0);
  /* Well below the time after which a peer that does not answer is given up. */
  CHECK(slowest < 10000);
  /* The emulator's host may hold up a stop, but not every tenth. */
  CHECK(slow < STARTS / 10);
  CHECK(after == before);
  CHECK(rtems_ioc_start() == 0);
}

/* More circuits than descriptors: refused or left waiting, and served again when descriptors come back. */
static void descriptors(void)
{
  static int clients[512];
  size_t count = 0;
  int steady = dial(ECHO_PORT);
  int odd = -1;
  int again = -1;

  REQUIRE(steady >= 0 && echo(steady));
  /* A circuit takes two descriptors: with an odd number left, the last client has one and the server none for it. */
  if ((rtems_libio_number_iops - open_descriptors()) % 2 == 0) {
    odd = socket(AF_INET, SOCK_DGRAM, 0);
  }
  unsigned before = open_descriptors();
  while (count < 512 && (clients[count] = dial(CA_PORT)) >= 0) {
    ++count;
    if (count % 8 == 0) {
      rtems_task_wake_after(2);
    }
  }
  printf("- %zu circuits before there was no more: %s\n", count, strerror(errno));
  CHECK(count >= 8 && count < 512);
#ifdef RTEMS_IOC_STACK_LEGACY
  /* libbsd runs out of sockets first. */
  CHECK(errno == ENFILE);
#endif
  rtems_task_wake_after(rtems_clock_get_ticks_per_second());
  CHECK(echo(steady));
  printf("a client was served while there were none\n");
  for (size_t i = 0; i < count; ++i) {
    close(clients[i]);
  }
  close(steady);
  for (unsigned i = 0; i < 50 && again < 0; ++i) {
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 5);
    if (open_descriptors() <= before) {
      again = dial(ECHO_PORT);
    }
  }
  REQUIRE(again >= 0);
  CHECK(echo(again));
  close(again);
  if (odd >= 0) {
    close(odd);
  }
  printf("served again when descriptors came back\n");
}

/* The server of 2005 in a task of its own, as somebody spawns it from Cexp. */
static struct {
  int bufsz;
  int discard;
  volatile bool ended;
  volatile int result;
} classic;

static rtems_task serve_classic(rtems_task_argument unused)
{
  (void) unused;
  classic.result = tcpecho(classic.bufsz, classic.discard);
  classic.ended = true;
  rtems_task_delete(RTEMS_SELF);
}

static bool start_classic(int bufsz, int discard)
{
  rtems_id task;

  classic.bufsz = bufsz;
  classic.discard = discard;
  classic.ended = false;
  classic.result = 77;
  return rtems_task_create(
           rtems_build_name('2', '0', '0', '5'), RTEMS_IOC_TASK_TCPECHO_PRIORITY, RTEMS_IOC_TASK_TCPECHO_STACK,
           RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &task
         ) == RTEMS_SUCCESSFUL
    && rtems_task_start(task, serve_classic, 0) == RTEMS_SUCCESSFUL;
}

/* Ends it by rtems_ioc_stop(); what it returned, or 77 when it did not within 5 s. */
static int stop_classic(void)
{
  rtems_ioc_stop();
  for (unsigned i = 0; i < 50 && !classic.ended; ++i) {
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 10);
  }
  return classic.result;
}

/* A connection to a server that is only about to listen. */
static int dial_soon(void)
{
  int descriptor = -1;

  for (unsigned i = 0; i < 50 && (descriptor = dial(ECHO_PORT)) < 0; ++i) {
    rtems_task_wake_after(rtems_clock_get_ticks_per_second() / 10);
  }
  return descriptor;
}

/* tcpecho(bufsz, discard): one client after the other; -1 when port or memory are not to be had, 0 after it was stopped. */
static void tcpecho_2005(void)
{
  char byte;
  int first;
  int second;

  printf("while the service has the port: %d\n", tcpecho(0, 0));
  CHECK(rtems_ioc_command("tcpecho stop") == 0);
  printf("with a buffer of 2 GB: %d\n", tcpecho(INT_MAX, 0));

  REQUIRE(start_classic(100, 0));
  first = dial_soon();
  second = dial(ECHO_PORT);
  REQUIRE(first >= 0 && second >= 0);
  CHECK(echo(first));
  CHECK(send(second, "x", 1, 0) == 1);
  rtems_task_wake_after(rtems_clock_get_ticks_per_second());
  CHECK(recv(second, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
  close(first);
  CHECK(recv(second, &byte, 1, 0) == 1 && byte == 'x');
  printf("one client after the other got its bytes back\n");
  /* It stops with a client that says nothing. */
  printf("stopped: %d\n", stop_classic());
  close(second);

  REQUIRE(start_classic(0, 1));
  first = dial_soon();
  REQUIRE(first >= 0);
  CHECK(send(first, "nothing comes back", 18, 0) == 18);
  CHECK(shutdown(first, SHUT_WR) == 0);
  CHECK(recv(first, &byte, 1, 0) == 0);
  printf("discarded\n");
  close(first);
  printf("stopped: %d\n", stop_classic());
  CHECK(rtems_ioc_start() == 0);
}

const struct selftest net_tests[] = {
  { "echo-load", echo_load },
  { "tcpecho-2005", tcpecho_2005 },
  { "restarts", restarts },
  { "descriptors", descriptors },
  { NULL, NULL },
};

#endif
