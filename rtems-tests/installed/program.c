/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The smallest user of librtems_ioc.a: a start-up of its own, compiled and linked with what `waf install` has installed.
 * Its network is the loopback interface, of the stack that -DSTACK_... names: that is the program's own business.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <netinet/in.h>
#include <sys/socket.h>

#include <rtems.h>

#include <rtems_ioc.h>

#define CA_PORT 5064
#define ECHO_PORT 4445

#if defined(STACK_libbsd)

#include <rtems/bsd/bsd.h>

static int start_network(void)
{
  if (rtems_bsd_initialize() != RTEMS_SUCCESSFUL) {
    return -1;
  }
  /* The stack's timer sets itself up in its own task. */
  rtems_task_wake_after(2);
  return rtems_bsd_ifconfig_lo0() == 0 ? 0 : -1;
}

#define RTEMS_BSD_CONFIG_INIT
#include <machine/rtems-bsd-config.h>

#elif defined(STACK_legacy)

#include <rtems/rtems_bsdnet.h>

struct rtems_bsdnet_config rtems_bsdnet_config = { .network_task_priority = 50 };

static int start_network(void)
{
  return rtems_bsdnet_initialize_network();
}

#else

static int start_network(void)
{
  return -1;
}

#endif

/* Does a server answer at this port of the loopback interface? With `text` it is to send the same back. */
static int answers(unsigned port, const char *text)
{
  struct sockaddr_in address;
  char back[32];
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  int right;

  memset(&address, 0, sizeof(address));
  address.sin_len = sizeof(address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  right = descriptor >= 0 && connect(descriptor, (struct sockaddr *) &address, sizeof(address)) == 0;
  if (right && text != NULL) {
    ssize_t length = (ssize_t) strlen(text);
    right = send(descriptor, text, (size_t) length, 0) == length && recv(descriptor, back, sizeof(back), 0) == length
      && memcmp(back, text, (size_t) length) == 0;
  }
  if (descriptor >= 0) {
    close(descriptor);
  }
  return right;
}

/* Both servers, started once the network is up; without a network they say that they cannot. */
static int servers(void)
{
  if (start_network() != 0) {
    return rtems_ioc_start() == -1;
  }
  return rtems_ioc_start() == 0 && answers(CA_PORT, NULL) && answers(ECHO_PORT, "hello") && tcpecho(0, 0) == -1
    && rtems_ioc_stop() == 0 && !answers(ECHO_PORT, NULL);
}

static rtems_task Init(rtems_task_argument unused)
{
  rtems_ioc_pool_status status;
  int right;

  (void) unused;
  printf("\n*** BEGIN OF TEST IOC installed ***\n*** TEST STATE: EXPECTED_PASS\n");
  right = rtems_ioc_command("poolstat") == 0 && rtems_ioc_command("dbl catime000001") == 0;
  right = right && rtems_ioc_command("no-such-command") == -1;
  right = right && rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0 && status.tracked != 0;
  right = right && osiSufficentSpaceInPool(1000) != 0 && servers();
  if (right) {
    printf("*** END OF TEST IOC installed ***\n");
  } else {
    printf("FAILED: a wrong answer\n");
  }
  exit(0);
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
#ifdef STACK_libbsd
/* libbsd notices tasks that come and go, and brings drivers of block devices along. */
#define CONFIGURE_MAXIMUM_USER_EXTENSIONS 4
#define CONFIGURE_APPLICATION_NEEDS_LIBBLOCK
#endif
#define CONFIGURE_MAXIMUM_FILE_DESCRIPTORS 32
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT_TASK_STACK_SIZE 16384
#define CONFIGURE_INIT_TASK_ATTRIBUTES RTEMS_FLOATING_POINT
#define CONFIGURE_INIT
#include <rtems/confdefs.h>
