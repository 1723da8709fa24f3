/* SPDX-License-Identifier: BSD-2-Clause */
/* The smallest user of librtems_ioc.a: a start-up of its own, compiled and linked with what `waf install` has installed. */

#include <stdio.h>
#include <stdlib.h>

#include <rtems.h>

#include <rtems_ioc.h>

/* Only has to link: the server of 2005 and both servers want a network, which is this program's own business. */
static int (*const calls[])(void) = { rtems_ioc_start, rtems_ioc_stop };
static int (*const echo)(int, int) = tcpecho;

static rtems_task Init(rtems_task_argument unused)
{
  rtems_ioc_pool_status status;
  int right;

  (void) unused;
  printf("\n*** BEGIN OF TEST IOC installed ***\n*** TEST STATE: EXPECTED_PASS\n");
  right = rtems_ioc_command("poolstat") == 0 && rtems_ioc_command("dbl catime000001") == 0;
  right = right && rtems_ioc_command("no-such-command") == -1;
  right = right && rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0 && status.tracked != 0;
  right = right && osiSufficentSpaceInPool(1000) != 0 && calls[0] != NULL && echo != NULL;
  if (right) {
    printf("*** END OF TEST IOC installed ***\n");
  } else {
    printf("FAILED: a wrong answer\n");
  }
  exit(0);
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
#define CONFIGURE_MAXIMUM_FILE_DESCRIPTORS 32
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT_TASK_STACK_SIZE 16384
#define CONFIGURE_INIT_TASK_ATTRIBUTES RTEMS_FLOATING_POINT
#define CONFIGURE_INIT
#include <rtems/confdefs.h>
