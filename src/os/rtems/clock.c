/* SPDX-License-Identifier: BSD-2-Clause */
/* The clock tick at boot: armed where the BSP forgets to, and looked at before anything waits for it. */

#include <stdio.h>

#include <rtems.h>
#include <rtems/counter.h>

#include "image.h"

#ifdef RTEMS_IOC_CLOCK_START_CALL
extern void RTEMS_IOC_CLOCK_START_CALL(void *unused);
#endif

/* Longer than two ticks of any image of ours. */
#define WAIT_NANOSECONDS (50 * 1000 * 1000)

/* Watches the CPU counter for 50 ms: does the tick count move? */
static bool ticks(void)
{
  rtems_interval before = rtems_clock_get_ticks_since_boot();
  rtems_counter_ticks limit = rtems_counter_nanoseconds_to_ticks(WAIT_NANOSECONDS);
  rtems_counter_ticks start = rtems_counter_read();
  while (rtems_counter_difference(rtems_counter_read(), start) < limit) {
    if (rtems_clock_get_ticks_since_boot() != before) {
      return true;
    }
  }
  return false;
}

void rtems_ioc_clock_check(void)
{
  if (ticks()) {
    return;
  }
#ifdef RTEMS_IOC_CLOCK_START_CALL
  printf("rtems-ioc: this RTEMS has not started the clock of the BSP; starting it\n");
  RTEMS_IOC_CLOCK_START_CALL(NULL);
  if (ticks()) {
    return;
  }
#endif
  printf("rtems-ioc: WARNING: the clock does not tick: whatever waits for time will wait for long\n");
}
