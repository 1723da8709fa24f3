/* SPDX-License-Identifier: BSD-2-Clause */
/* What boards with the legacy network stack need before EPICS starts their network. */

#include <epicsRtemsInitHooks.h>

#ifdef RTEMS_LEGACY_STACK
#include <bsp.h>
#include <bsp/irq.h>

#if defined(BSP_POWERPC_IRQ_GENERIC_SUPPORT) && __RTEMS_MAJOR__ > 5
/* RTEMS 6 of 2026 arms no decrementer on motorola_powerpc and beatnik. */
extern void clockOn(void *unused);
#define NEEDS_CLOCK_ON 1
#endif

#ifdef qemu
extern int rtems_bsdnet_ntp_retry_count;
extern int rtems_bsdnet_ntp_bcast_timeout_secs;
#endif

int epicsRtemsInitPreSetBootConfigFromNVRAM(struct rtems_bsdnet_config *config)
{
#ifdef NEEDS_CLOCK_ON
    clockOn(0);
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
