/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from Rust: see console.c. */
#pragma once

#include <stddef.h>

/* Writes to the standard output of the calling task. */
void rtems_ioc_stdout_write(const char *text, size_t length);

/* Flushes it. */
void rtems_ioc_stdout_flush(void);

/* One log line on the kernel's console: no allocation, no waiting for a lock of stdio. */
void rtems_ioc_log_line(const char *text);
