// SPDX-License-Identifier: BSD-2-Clause
//! Sizes and offsets that the package relies on, asserted at compile time for the BSP at hand.

use core::mem::{offset_of, size_of};

use crate::*;

const fn holds(fact: bool) {
    assert!(fact, "the installed BSP differs from what rtems-ioc relies on");
}

/// Socket addresses of BSD: length and family are a byte each.
const _: () = {
    holds(offset_of!(sockaddr_in, sin_len) == 0);
    holds(offset_of!(sockaddr_in, sin_family) == 1);
    holds(offset_of!(sockaddr_in, sin_port) == 2);
    holds(offset_of!(sockaddr_in, sin_addr) == 4);
    holds(size_of::<sockaddr_in>() == 16 && size_of::<in_addr>() == 4);
    holds(size_of::<socklen_t>() == 4);
};

/// poll(2): the array of the package is the C library's.
const _: () = holds(size_of::<pollfd>() == 8 && offset_of!(pollfd, revents) == 6);

/// 8 bytes of seconds since newlib 4 (RTEMS 5 and later), 4 before; nanoseconds follow either way.
const _: () = {
    holds(size_of::<time_t>() == RTEMS_SYS_SIZEOF_TIME_T as usize);
    holds(offset_of!(timespec, tv_nsec) == size_of::<time_t>());
};

/// Interface requests: the address follows a name of 16 bytes.
const _: () = holds(offset_of!(ifreq, ifr_ifru) == 16);

/// Object identifiers, names and status codes pass in one register each.
const _: () = {
    holds(size_of::<rtems_id>() == 4 && size_of::<rtems_name>() == 4);
    holds(size_of::<rtems_status_code>() <= 4);
    holds(size_of::<rtems_task_argument>() == size_of::<usize>());
};

/// A mutex of zeroes is an unlocked one; it lies in constant-initialised memory of this package.
const _: () = holds(size_of::<_Mutex_Control>() <= 32);
