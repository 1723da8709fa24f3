/* SPDX-License-Identifier: BSD-2-Clause */
/* The legacy stack without network buffers: who can be served is, the rest waits, and goes on when they are back. */

#include "selftest.h"
#include "os/rtems/image.h"

#ifndef RTEMS_IOC_STACK_LEGACY

const struct selftest buffer_tests[] = { { NULL, NULL } };

#else

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/param.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <sys/mbuf.h>

#include <rtems.h>

#define ECHO_PORT 4445
#define SOURCE_PORT 4447
#define CA_PORT 5064
#define FIRST_HOG_PORT 20000
#define HOGS 64
#define SMALL 100
/* A server's first message on a circuit: its version. */
#define GREETING 16

/* sys/mbuf.h declares it for the stack's own files only. */
extern struct mbstat mbstat;

static int hogs[HOGS];
static unsigned hog_count;

static struct sockaddr_in local(unsigned port)
{
  struct sockaddr_in address;

  memset(&address, 0, sizeof(address));
  address.sin_len = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/* A connection to a port of this image whose recv gives up after half a second, or -1. */
static int dial(unsigned port)
{
  struct sockaddr_in address = local(port);
  struct timeval patience = { .tv_sec = 0, .tv_usec = 500000 };
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);

  if (descriptor < 0) {
    return -1;
  }
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  if (connect(descriptor, (struct sockaddr *) &address, sizeof(address)) != 0) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

/* Receives so many bytes, or less when nothing comes for half a second. */
static size_t receive(int descriptor, size_t wanted)
{
  static char buffer[1024];
  size_t have = 0;

  while (have < wanted) {
    size_t room = wanted - have < sizeof(buffer) ? wanted - have : sizeof(buffer);
    ssize_t n = recv(descriptor, buffer, room, 0);
    if (n <= 0) {
      break;
    }
    have += (size_t) n;
  }
  return have;
}

/* Sends a small message; it takes an mbuf and no cluster. */
static bool say(int descriptor)
{
  static char message[SMALL];
  return send(descriptor, message, sizeof(message), 0) == (ssize_t) sizeof(message);
}

/* One more socket that nobody reads. */
static bool another_hog(void)
{
  struct sockaddr_in address = local(FIRST_HOG_PORT + hog_count);
  int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  int bytes = 240000;

  if (descriptor < 0) {
    return false;
  }
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
  if (bind(descriptor, (struct sockaddr *) &address, sizeof(address)) != 0) {
    close(descriptor);
    return false;
  }
  hogs[hog_count++] = descriptor;
  return true;
}

static unsigned long clusters(void)
{
  return mbstat.m_clfree;
}

static unsigned long mbufs(void)
{
  return mbstat.m_mtypes[MT_FREE];
}

/* Fills sockets with datagrams of this size until no more than `left` of the buffers are free: enough for one more
 * datagram, since sendto would wait for them. Large ones take mostly clusters, small ones mbufs alone. */
static bool take(unsigned long (*available)(void), unsigned long left, size_t size)
{
  static char datagram[8000];

  while (available() > left) {
    struct sockaddr_in address;
    unsigned long before = available();
    if (hog_count == HOGS || !another_hog()) {
      return false;
    }
    address = local(FIRST_HOG_PORT + hog_count - 1);
    /* A full socket keeps nothing more: then the next one. */
    for (unsigned i = 0; i < 16 && available() > left;) {
      sendto(hogs[hog_count - 1], datagram, size, 0, (struct sockaddr *) &address, sizeof(address));
      i = available() < before ? 0 : i + 1;
      before = available();
    }
  }
  return true;
}

static void give_back(void)
{
  while (hog_count > 0) {
    close(hogs[--hog_count]);
  }
}

static void buffers(void)
{
  unsigned long all_clusters = clusters();
  unsigned long all_mbufs = mbufs();
  int steady = dial(ECHO_PORT);
  int source;
  int circuit;
  unsigned served = 0;

  REQUIRE(steady >= 0 && say(steady) && receive(steady, SMALL) == SMALL);

  CHECK(take(clusters, 8, 8000));
  for (unsigned i = 0; i < 20; ++i) {
    served += say(steady) && receive(steady, SMALL) == SMALL;
  }
  source = dial(SOURCE_PORT);
  printf("- %lu of %lu clusters left, %lu of %lu mbufs\n", clusters(), all_clusters, mbufs(), all_mbufs);
  printf("without clusters: %u of 20 small messages echoed, ", served);
  printf("%u bytes from the source\n", (unsigned) receive(source, 1));

  CHECK(take(mbufs, 64, 1));
  printf("- %lu of %lu mbufs left\n", mbufs(), all_mbufs);
  CHECK(say(steady));
  circuit = dial(CA_PORT);
  printf("without mbufs: %u bytes echoed, ", (unsigned) receive(steady, SMALL));
  printf("%u bytes on a new circuit\n", (unsigned) receive(circuit, GREETING));

  give_back();
  printf("with buffers again: %u bytes echoed, ", (unsigned) receive(steady, SMALL));
  printf("%u from the source, ", (unsigned) receive(source, 100000));
  printf("%u on the circuit\n", (unsigned) receive(circuit, GREETING));
  close(steady);
  close(source);
  close(circuit);
}

const struct selftest buffer_tests[] = {
  { "buffers", buffers },
  { NULL, NULL },
};

#endif
