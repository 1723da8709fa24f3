// SPDX-License-Identifier: BSD-2-Clause
//! Sizes, offsets and values that the package relies on, asserted at compile time for the BSP at hand. They are the same from
//! RTEMS 5 to main; what older ones lack, `rtems_sys.h` says.

use core::mem::{offset_of, size_of};

use crate::*;

const _: () = assert!(RTEMS_SYS_MAJOR >= 5, "the server needs RTEMS 5 or later");

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

/// Seconds, signed; nanoseconds follow.
const _: () = {
    holds(size_of::<time_t>() == 8 && RTEMS_SYS_SIZEOF_TIME_T == 8);
    holds(offset_of!(timespec, tv_nsec) == size_of::<time_t>());
};

/// Values that are compared or combined by themselves: BSD's, not Linux's.
const _: () = {
    holds(AF_INET == 2 && SOCK_STREAM == 1 && SOCK_DGRAM == 2 && SOL_SOCKET == 0xffff);
    holds(POLLIN == 1 && POLLOUT == 4 && POLLERR == 8 && POLLHUP == 16);
    holds(size_of::<ip_mreq>() == 8);
    holds(EAGAIN == 11 && EINTR == 4);
    // One event for each, and 24 is the legacy stack's own.
    holds(RTEMS_EVENT_25 == 1 << 25 && size_of::<rtems_event_set>() == 4 && size_of::<rtems_interval>() == 4);
};

/// Interface requests: the address follows a name of 16 bytes.
const _: () = holds(offset_of!(ifreq, ifr_ifru) == 16);

/// Object identifiers, names and status codes pass in one register each.
const _: () = {
    holds(size_of::<rtems_id>() == 4 && size_of::<rtems_name>() == 4);
    holds(size_of::<rtems_status_code>() <= 4);
    holds(size_of::<rtems_task_argument>() == size_of::<usize>());
};

/// A mutex of zeroes is an unlocked one, a semaphore of zeroes has the count 0; both lie in memory of this package.
const _: () = holds(size_of::<_Mutex_Control>() <= 32 && size_of::<_Semaphore_Control>() <= 32);

/// A descriptor fits where the package keeps it, and a negative one is none.
const _: () = holds(size_of::<core::ffi::c_int>() == 4 && size_of::<usize>() == 4);
