// SPDX-License-Identifier: BSD-2-Clause
//! Every C item that the sockets use, and the few places where the systems differ in them.

#[cfg(feature = "hosted")]
pub use libc::{
    AF_INET, EACCES, EADDRINUSE, EADDRNOTAVAIL, EAGAIN, ECONNABORTED, ECONNREFUSED, ECONNRESET, EINPROGRESS,
    EINTR, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOTCONN, EPERM, EPIPE, ETIMEDOUT, F_GETFL, F_SETFL,
    IP_ADD_MEMBERSHIP, IP_MULTICAST_TTL, IPPROTO_IP, IPPROTO_TCP, O_NONBLOCK, POLLIN, POLLOUT, SHUT_RDWR,
    SHUT_WR, SO_BROADCAST, SO_ERROR, SO_KEEPALIVE, SO_RCVBUF, SO_REUSEADDR, SO_REUSEPORT, SOCK_DGRAM,
    SOCK_STREAM, SOL_SOCKET, TCP_NODELAY, accept, bind, c_int, c_void, close, connect, fcntl, getsockname,
    getsockopt, in_addr, ip_mreq, listen, poll, pollfd, recv, recvfrom, send, sendto, setsockopt, shutdown,
    sockaddr, sockaddr_in, socket, socklen_t,
};

/// A peer that has gone must be an error of `send`, not a signal.
#[cfg(feature = "hosted")]
pub const SEND_FLAGS: c_int = libc::MSG_NOSIGNAL;

/// Descriptors of this program are nobody else's: applied to each new socket.
#[cfg(feature = "hosted")]
pub fn close_on_exec(descriptor: c_int) {
    // SAFETY: fcntl with F_SETFD takes an integer and touches no memory of ours; a bad descriptor is an error.
    unsafe { fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// The end of a wait in poll: here that of poll itself.
#[cfg(feature = "hosted")]
pub struct Timeout;

#[cfg(feature = "hosted")]
impl Timeout {
    /// For the task that this waker wakes.
    pub fn new(_: super::alarm::SocketWaker) -> Timeout {
        Timeout
    }

    /// Begins a wait of so long (`None`: for ever): the timeout that poll gets.
    pub fn begin(&self, timeout_ms: Option<u64>) -> c_int {
        timeout_ms.map_or(-1, |ms| c_int::try_from(ms).unwrap_or(c_int::MAX))
    }

    /// The wait has ended.
    pub fn end(&self) {}
}

/// The error of the last call in this task.
#[cfg(feature = "hosted")]
pub fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// An IPv4 socket address; both arguments in host order.
#[cfg(feature = "hosted")]
pub fn socket_address(ip: u32, port: u16) -> sockaddr_in {
    sockaddr_in {
        sin_family: AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: in_addr { s_addr: ip.to_be() },
        sin_zero: [0; 8],
    }
}

/// Before a call that takes buffers of the stack for so many bytes: "no buffers" where the call itself would wait for
/// them. Other stacks than the legacy one say it themselves.
#[cfg(not(all(feature = "legacy-network", not(feature = "hosted"))))]
pub fn ask_for_buffers(_bytes: usize) -> Result<(), super::SocketError> {
    Ok(())
}

#[cfg(all(feature = "legacy-network", not(feature = "hosted")))]
pub use super::buffers::ask as ask_for_buffers;

#[cfg(all(feature = "rtems", not(feature = "hosted")))]
pub use self::rtems::*;

/// The same list from the headers of the installed BSP.
#[cfg(all(feature = "rtems", not(feature = "hosted")))]
mod rtems {
    pub use core::ffi::{c_int, c_void};

    pub use rtems_sys::{
        AF_INET, EACCES, EADDRINUSE, EADDRNOTAVAIL, EAGAIN, ECONNABORTED, ECONNREFUSED, ECONNRESET,
        EINPROGRESS, EINTR, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOTCONN, EPERM, EPIPE, ETIMEDOUT, F_GETFL,
        F_SETFL, IP_ADD_MEMBERSHIP, IP_MULTICAST_TTL, IPPROTO_IP, IPPROTO_TCP, O_NONBLOCK, SHUT_RDWR,
        SHUT_WR, SO_BROADCAST, SO_ERROR, SO_KEEPALIVE, SO_RCVBUF, SO_REUSEADDR, SO_REUSEPORT, SOCK_DGRAM,
        SOCK_STREAM, SOL_SOCKET, TCP_NODELAY, accept, bind, close, connect, fcntl, getsockname, getsockopt,
        in_addr, ip_mreq, listen, recv, recvfrom, send, sendto, setsockopt, shutdown, sockaddr, sockaddr_in,
        socket, socklen_t,
    };

    #[cfg(not(feature = "legacy-network"))]
    pub use crate::os::rtems::timeout::Timeout;
    #[cfg(not(feature = "legacy-network"))]
    pub use rtems_sys::{poll, pollfd};

    /// As wide as the fields of `pollfd`.
    #[cfg(not(feature = "legacy-network"))]
    pub const POLLIN: i16 = rtems_sys::POLLIN as i16;
    /// As wide as the fields of `pollfd`.
    #[cfg(not(feature = "legacy-network"))]
    pub const POLLOUT: i16 = rtems_sys::POLLOUT as i16;

    /// RTEMS raises no SIGPIPE of its own accord: the error of `send` is all there is.
    pub const SEND_FLAGS: c_int = 0;

    /// RTEMS executes no other program.
    pub fn close_on_exec(_descriptor: c_int) {}

    unsafe extern "C" {
        /// errno.c: where errno lies is newlib's business.
        fn rtems_ioc_errno() -> c_int;
    }

    /// The error of the last call in this task.
    pub fn errno() -> i32 {
        // SAFETY: takes nothing; reads the calling task's own word.
        unsafe { rtems_ioc_errno() }
    }

    /// An IPv4 socket address; both arguments in host order.
    pub fn socket_address(ip: u32, port: u16) -> sockaddr_in {
        sockaddr_in {
            sin_len: size_of::<sockaddr_in>() as u8,
            sin_family: AF_INET as u8,
            sin_port: port.to_be(),
            sin_addr: in_addr { s_addr: ip.to_be() },
            sin_zero: [0; 8],
        }
    }
}
