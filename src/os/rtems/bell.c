/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bell of an application's tasks. Ringing it is one store: the clock's interrupt looks at it once a tick and sends the
 * event, so that the task that rings pays for no call of the kernel. While nobody waits there is no timer.
 */

#include <rtems.h>

#include "bell.h"

/* Nobody else sends this event to the task that waits. */
#define EVENT RTEMS_EVENT_25

static rtems_timer_service_routine look(rtems_id timer, void *argument)
{
  struct rtems_ioc_bell *bell = argument;

  if (bell->rung != 0 && bell->task != 0) {
    bell->rung = 0;
    rtems_event_send(bell->task, EVENT);
  }
  rtems_timer_reset(timer);
}

void rtems_ioc_bell_wait(struct rtems_ioc_bell *bell)
{
  rtems_event_set events;

  bell->task = rtems_task_self();
  if (bell->timer == 0) {
    rtems_id timer;
    if (
      rtems_timer_create(rtems_build_name('B', 'E', 'L', 'L'), &timer) == RTEMS_SUCCESSFUL
        && rtems_timer_fire_after(timer, 1, look, bell) == RTEMS_SUCCESSFUL
    ) {
      bell->timer = timer;
    } else {
      /* Without a timer the task looks by itself. */
      rtems_task_wake_after(1);
      return;
    }
  }
  rtems_event_receive(EVENT, RTEMS_EVENT_ANY | RTEMS_WAIT, RTEMS_NO_TIMEOUT, &events);
}

void rtems_ioc_bell_close(struct rtems_ioc_bell *bell)
{
  if (bell->timer != 0) {
    rtems_timer_delete(bell->timer);
    bell->timer = 0;
  }
  bell->task = 0;
}
