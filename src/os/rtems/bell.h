/* SPDX-License-Identifier: BSD-2-Clause */
/* A bell: see bell.c. */
#pragma once

#include <stdint.h>

/* In the layout of `EventBell` in bell.rs. */
struct rtems_ioc_bell {
  volatile uint32_t rung;
  volatile uint32_t task;
  volatile uint32_t timer;
};

/* Waits until the bell is rung, in the one task that does. */
void rtems_ioc_bell_wait(struct rtems_ioc_bell *bell);

/* That task will not wait any more. */
void rtems_ioc_bell_close(struct rtems_ioc_bell *bell);
