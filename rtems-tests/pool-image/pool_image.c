/* SPDX-License-Identifier: BSD-2-Clause */
/* The smallest user of librtems_ioc_pool.a: an image of its own, as an EPICS image would link it. It is linked twice, with
 * the linker's --wrap flags (the tracker answers) and without (the free list is searched); both must give right answers. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <rtems.h>

#include "rtems_ioc.h"

static rtems_task Init(rtems_task_argument unused)
{
  rtems_ioc_pool_status status;
  size_t largest = rtems_ioc_pool_largest();
  void *half;
  int right;

  (void) unused;
  printf("\n*** BEGIN OF TEST IOC pool-image ***\n*** TEST STATE: EXPECTED_PASS\n");
  right = rtems_ioc_pool_snapshot(&status, sizeof(status)) == 0;
  printf("answers by %s\n", status.tracked != 0 ? "tracker" : "search");
  right = right && osiSufficentSpaceInPool(largest / 2) != 0 && osiSufficentSpaceInPool(largest) == 0;
  right = right && osiSufficientSpaceInPool(SIZE_MAX) == 0;
  half = malloc(largest / 2);
  right = right && half != NULL && osiSufficentSpaceInPool(largest / 2) == 0;
  free(half);
  right = right && osiSufficentSpaceInPool(largest / 2) != 0;
  if (right) {
    printf("*** END OF TEST IOC pool-image ***\n");
  } else {
    printf("FAILED: a wrong answer\n");
  }
  exit(0);
}

#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_NEEDS_CONSOLE_DRIVER
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT_TASK_STACK_SIZE 8192
#define CONFIGURE_INIT_TASK_ATTRIBUTES RTEMS_FLOATING_POINT
#define CONFIGURE_INIT
#include <rtems/confdefs.h>
