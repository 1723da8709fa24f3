/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of day by SNTP (RFC 4330), for boards without a clock of their own: at boot, by a task every ten minutes (every
 * half minute until it has been set), and by the command `clock`. The answer's transmit time, half the round trip added, is
 * set as it is. */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <rtems.h>
#include <rtems/shell.h>

#include "image.h"

#define PORT 123
#define PACKET_BYTES 48
#define TRANSMIT_AT 40
/* Version 4, client. */
#define REQUEST 0x23
#define MODE_SERVER 4
/* The leap indicator of a server that does not know the time. */
#define LEAP_UNKNOWN 3
/* From 1900, as NTP counts, to 1970 and to 1960; from 1970 to 2000. */
#define NTP_TO_UNIX 2208988800u
#define NTP_TO_1960 1893456000u
#define UNIX_2000 946684800
#define ANSWER_SECONDS 2
#define TRIES 3
#define PERIOD_SECONDS 600
#define RETRY_SECONDS 30

/* Given to the command; NULL as long as the settings say which. It points into one of the two texts, and the other one is
 * written when it changes. */
static const char *volatile chosen;
/* The task that keeps the time; asks at once when it gets this event. */
static rtems_id keeper;
#define ASK RTEMS_EVENT_1
static char texts[2][INET_ADDRSTRLEN];
static int64_t last_step_ms;
static time_t last_set;

static uint32_t word(const unsigned char *bytes)
{
  return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];
}

/* Seconds since 1970. NTP's count begins anew in February 2036: the first sixty years of a count come after that. (Where time_t
 * has 32 bits, up to RTEMS 4.11, the clock itself ends in 2038.) What then lies before 2000 is a server's that lost its clock. */
static int64_t seconds_of(uint32_t ntp)
{
  return (int64_t) ntp - NTP_TO_UNIX + (ntp < NTP_TO_1960 ? INT64_C(1) << 32 : 0);
}

/* Asks once; true when the clock was set. */
static bool ask(int descriptor, const struct sockaddr_in *to)
{
  unsigned char packet[PACKET_BYTES] = { REQUEST };
  struct timespec now;
  struct timespec old;
  uint64_t sent = rtems_clock_get_uptime_nanoseconds();
  ssize_t size;

  /* Comes back as the originate time: whoever answers has seen the question. */
  memcpy(packet + TRANSMIT_AT, &sent, sizeof(sent));
  if (sendto(descriptor, packet, sizeof(packet), 0, (const struct sockaddr *) (const void *) to, sizeof(*to)) < 0) {
    return false;
  }
  size = recv(descriptor, packet, sizeof(packet), 0);
  /* Kind, a clock and a stratum that are not "unsynchronised", nor "go away", our own stamp, and a time that may be right. */
  if (
    size < PACKET_BYTES || (packet[0] & 7) != MODE_SERVER || packet[0] >> 6 == LEAP_UNKNOWN || packet[1] == 0 || packet[1] > 15
    || memcmp(packet + 24, &sent, sizeof(sent)) != 0 || word(packet + TRANSMIT_AT) == 0
    || seconds_of(word(packet + TRANSMIT_AT)) < UNIX_2000
  ) {
    return false;
  }
  uint64_t half_way = (rtems_clock_get_uptime_nanoseconds() - sent) / 2;
  uint64_t fraction = ((uint64_t) word(packet + TRANSMIT_AT + 4) * 1000000000u) >> 32;
  now.tv_sec = (time_t) seconds_of(word(packet + TRANSMIT_AT)) + (time_t) ((fraction + half_way) / 1000000000u);
  now.tv_nsec = (long) ((fraction + half_way) % 1000000000u);
  clock_gettime(CLOCK_REALTIME, &old);
  if (clock_settime(CLOCK_REALTIME, &now) != 0) {
    return false;
  }
  last_step_ms = ((int64_t) now.tv_sec - old.tv_sec) * 1000 + (now.tv_nsec - old.tv_nsec) / 1000000;
  last_set = now.tv_sec;
  return true;
}

/* Asks a few times; 0, or an errno. */
static int synchronise(const char *address)
{
  struct sockaddr_in to;
  struct timeval patience = { .tv_sec = ANSWER_SECONDS };
  bool done = false;
  int descriptor;

  memset(&to, 0, sizeof(to));
  to.sin_len = sizeof(to);
  to.sin_family = AF_INET;
  to.sin_port = htons(PORT);
  to.sin_addr.s_addr = inet_addr(address);
  if (to.sin_addr.s_addr == INADDR_NONE) {
    return EINVAL;
  }
  descriptor = socket(AF_INET, SOCK_DGRAM, 0);
  if (descriptor < 0) {
    return errno;
  }
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  for (unsigned i = 0; i < TRIES && !done; ++i) {
    done = ask(descriptor, &to);
  }
  close(descriptor);
  return done ? 0 : ETIMEDOUT;
}

/* The server to ask, NULL when none is known: DHCP may name one late. */
static const char *server(void)
{
  const char *given = chosen;

  return given != NULL ? given : rtems_ioc_setting("ntp");
}

static void choose(const char *address)
{
  char *text = texts[chosen == texts[0]];

  strlcpy(text, address, sizeof(texts[0]));
  chosen = text;
  rtems_event_send(keeper, ASK);
}

/* The first question goes out at once: its step shows how the clock runs. */
static rtems_task keep_time(rtems_task_argument unused)
{
  (void) unused;
  for (;;) {
    const char *address = server();
    int error = address != NULL ? synchronise(address) : ENOENT;
    unsigned seconds = error == 0 ? PERIOD_SECONDS : RETRY_SECONDS;
    rtems_event_set asked;
    rtems_event_receive(ASK, RTEMS_WAIT | RTEMS_EVENT_ANY, seconds * rtems_clock_get_ticks_per_second(), &asked);
  }
}

static int command(int argc, char *argv[])
{
  if (argc == 2) {
    int error = synchronise(argv[1]);
    if (error != 0) {
      printf("clock: no time from %s: %s\n", argv[1], strerror(error));
      return 1;
    }
    choose(argv[1]);
  }
  if (last_set == 0) {
    printf("clock: not set; process variables carry the stamp 0\n");
    return argc == 1 ? 0 : 1;
  }
  time_t now = time(NULL);
  char text[32];
  strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", gmtime(&now));
  printf("clock: %s UTC, set %ld s ago, by a step of %lld ms\n", text, (long) (now - last_set), (long long) last_step_ms);
  return 0;
}

void rtems_ioc_sntp_start(void)
{
  const char *address = server();

  rtems_shell_add_cmd("clock", "ioc", "clock [SERVER]            state of the time of day; asks an SNTP server", command);
  if (address == NULL) {
    printf("rtems-ioc: clock not set: no SNTP server is known\n");
  } else {
    printf("rtems-ioc: clock %s by SNTP from %s\n", synchronise(address) == 0 ? "set" : "NOT set", address);
  }
  if (rtems_task_create(
        rtems_build_name('S', 'N', 'T', 'P'), RTEMS_IOC_TASK_SNTP_PRIORITY, RTEMS_IOC_TASK_SNTP_STACK,
        RTEMS_DEFAULT_MODES, RTEMS_FLOATING_POINT, &keeper
      ) == RTEMS_SUCCESSFUL) {
    rtems_task_start(keeper, keep_time, 0);
  }
}
