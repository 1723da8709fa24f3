// SPDX-License-Identifier: BSD-2-Clause
//! Sizes and offsets that the package relies on, asserted at compile time for the BSP at hand. What changed between 4.10
//! and main stands in [`Expected`].

use core::mem::{offset_of, size_of};

use crate::*;

/// What differs from one RTEMS to another.
struct Expected {
    /// Bytes of `time_t`: 8 since the newlib of RTEMS 5.
    time_t: usize,
}

const fn expected(major: i64, minor: i64) -> Expected {
    assert!(major > 4 || (major == 4 && minor >= 10), "rtems-ioc serves RTEMS 4.10 and later");
    Expected { time_t: if major >= 5 { 8 } else { 4 } }
}

const EXPECTED: Expected = expected(RTEMS_SYS_MAJOR as i64, RTEMS_SYS_MINOR as i64);

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
    holds(size_of::<time_t>() == EXPECTED.time_t && size_of::<time_t>() == RTEMS_SYS_SIZEOF_TIME_T as usize);
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

/// A mutex of zeroes is an unlocked one, a semaphore of zeroes has the count 0; both lie in memory of this package.
const _: () = holds(size_of::<_Mutex_Control>() <= 32 && size_of::<_Semaphore_Control>() <= 32);

/// A descriptor fits where the package keeps it, and a negative one is none.
const _: () = holds(size_of::<core::ffi::c_int>() == 4 && size_of::<usize>() == 4);
