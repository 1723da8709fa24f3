/* SPDX-License-Identifier: BSD-2-Clause */
/* errno as a call: newlib keeps it in the reentrancy structure or, since 2022, in thread-local storage, which Rust must
 * not use on the boards. */

#include <errno.h>

int rtems_ioc_errno(void);

int rtems_ioc_errno(void)
{
  return errno;
}
