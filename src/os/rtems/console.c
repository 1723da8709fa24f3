/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from Rust to whoever reads: the stdout of the calling task (which the RTEMS shell redirects), or the console. */

#include <stdio.h>

#include <rtems/bspIo.h>

#include "console.h"

void rtems_ioc_stdout_write(const char *text, size_t length)
{
  fwrite(text, 1, length, stdout);
}

void rtems_ioc_stdout_flush(void)
{
  fflush(stdout);
}

void rtems_ioc_log_line(const char *text)
{
  printk("%s\n", text);
}
