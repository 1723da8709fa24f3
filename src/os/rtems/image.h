/* SPDX-License-Identifier: BSD-2-Clause */
/* What the C files of the image share: the settings of the BSP and the steps of the start. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Made by wscript from bsp-config. */
#include "rtems_ioc_bsp.h"

/* Starts the clock where the BSP forgets to, and says so when no tick comes. */
void rtems_ioc_clock_check(void);

/* A setting by its name (`ip`, `mask`, `gateway`, `ntp`, `name`, `EPICS_...`): from the boot command line, then the
 * firmware's variables, the environment, DHCP or BOOTP, and bsp-config. NULL when nobody says. The text lives as long as
 * the image. */
const char *rtems_ioc_setting(const char *name);

/* DHCP or BOOTP said so. */
void rtems_ioc_network_said(const char *name, const char *value);

/* Brings the network up; 0 when sockets can be used. */
int rtems_ioc_network_start(void);

/* Sets the clock by SNTP when a server is known, starts the task that keeps it, and registers the command `clock`. */
void rtems_ioc_sntp_start(void);

/* Addresses and how they came, in one line. */
const char *rtems_ioc_network_status(void);

/* Registers the command `selftest` (rtems-tests/target). */
void selftest_register(void);

/* Registers the command `pvbench` (rtems-tests/target). */
void pvbench_register(void);

/* rtems-tests: the command `plainecho`. */
void plainecho_register(void);

/* Registers the command `device` (examples/device.c). */
void device_register(void);

/* Registers the command `heapbench` (rtems-tests/target). */
void heapbench_register(void);
