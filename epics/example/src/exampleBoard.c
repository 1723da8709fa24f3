/* SPDX-License-Identifier: BSD-2-Clause */
/* What boards with the legacy network stack need before EPICS starts their network. */

#include <epicsRtemsInitHooks.h>

#ifdef RTEMS_LEGACY_STACK
#include <bsp.h>
#include <bsp/irq.h>

#if defined(BSP_POWERPC_IRQ_GENERIC_SUPPORT) && __RTEMS_MAJOR__ > 5
#define MAY_NEED_CLOCK_ON 1

#include <stdbool.h>
#include <stdio.h>

#include <rtems.h>
#include <rtems/counter.h>

extern void clockOn(void *unused);

/* Watches the CPU counter for the time of three ticks: does the tick count move? */
static bool ticks(void)
{
    uint32_t nanoseconds = 3 * (1000000000 / rtems_clock_get_ticks_per_second());
    rtems_interval before = rtems_clock_get_ticks_since_boot();
    rtems_counter_ticks limit = rtems_counter_nanoseconds_to_ticks(nanoseconds);
    rtems_counter_ticks start = rtems_counter_read();
    while (rtems_counter_difference(rtems_counter_read(), start) < limit) {
        if (rtems_clock_get_ticks_since_boot() != before) {
            return true;
        }
    }
    return false;
}
#endif

#ifdef qemu
extern int rtems_bsdnet_ntp_retry_count;
extern int rtems_bsdnet_ntp_bcast_timeout_secs;
#endif

int epicsRtemsInitPreSetBootConfigFromNVRAM(struct rtems_bsdnet_config *config)
{
#ifdef MAY_NEED_CLOCK_ON
    /* RTEMS 6 of 2026 arms no decrementer on motorola_powerpc and beatnik; another one may have done so. */
    if (!ticks()) {
        printf("this RTEMS has not started the clock of the BSP; starting it\n");
        clockOn(0);
    }
#endif
#ifdef qemu
    /* The NE2000 of QEMU's PReP machine; its driver assumes another line. Nobody there tells the time. */
    config->ifconfig->irno = 9;
    rtems_bsdnet_ntp_retry_count = 1;
    rtems_bsdnet_ntp_bcast_timeout_secs = 1;
#else
    (void)config;
#endif
    return 0;
}
#endif
