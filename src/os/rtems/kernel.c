/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel knows of itself: version, and who used the processor. */

#include <string.h>

#include <rtems.h>
#include <rtems/score/threadimpl.h>

#include "kernel.h"

/* The servers, who calls the server for the application, the time; start and shell run for whoever types at the console. */
static const char *const own_tasks[] = { "CAsr", "tcpe", "cour", "SNTP" };

struct sums {
  uint64_t idle;
  uint64_t own;
};

static bool add(rtems_tcb *task, void *argument)
{
  struct sums *sums = argument;
  char name[16];
  Timestamp_Control used = _Thread_Get_CPU_time_used(task);
  struct timespec time;
  uint64_t nanoseconds;

  _Timestamp_To_timespec(&used, &time);
  nanoseconds = (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
  name[0] = '\0';
  _Thread_Get_name(task, name, sizeof(name));
  if (strcmp(name, "IDLE") == 0) {
    sums->idle += nanoseconds;
  }
  for (size_t i = 0; i < RTEMS_ARRAY_SIZE(own_tasks); ++i) {
    sums->own += strcmp(name, own_tasks[i]) == 0 ? nanoseconds : 0;
  }
  return false;
}

void rtems_ioc_cpu_time(uint64_t *total, uint64_t *idle, uint64_t *own)
{
  struct sums sums = { 0, 0 };

  rtems_task_iterate(add, &sums);
  *total = rtems_clock_get_uptime_nanoseconds();
  *idle = sums.idle;
  *own = sums.own;
}

const char *rtems_ioc_kernel_version(void)
{
  return rtems_get_version_string();
}
