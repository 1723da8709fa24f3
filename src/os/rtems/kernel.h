/* SPDX-License-Identifier: BSD-2-Clause */
/* What Rust asks of the kernel in C: see kernel.c. */
#pragma once

#include <stdint.h>

/* Nanoseconds since boot: altogether, of the idle task, and of the tasks of this package. */
void rtems_ioc_cpu_time(uint64_t *total, uint64_t *idle, uint64_t *own);

/* Name and version of the kernel. */
const char *rtems_ioc_kernel_version(void);
