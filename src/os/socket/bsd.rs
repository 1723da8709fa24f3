// SPDX-License-Identifier: BSD-2-Clause
//! Sockets on the BSD calls: Linux, RTEMS with libbsd and RTEMS with the legacy stack.

#![allow(unsafe_code)]

use core::mem::{size_of, size_of_val};

use super::sys::{self, c_int, c_void, sockaddr, sockaddr_in, socklen_t};
use super::{Address, Datagram, DatagramOptions, Descriptor, Listener, Shutdown, SocketError, Stream};

/// A descriptor that is closed when dropped.
#[derive(Debug)]
struct Owned(Descriptor);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: `open` or `accept` gave this descriptor to this value alone, and it is used no more.
        unsafe { sys::close(self.0) };
    }
}

impl Owned {
    /// A new non-blocking socket.
    fn open(kind: c_int) -> Result<Owned, SocketError> {
        // SAFETY: socket() takes integers only.
        let descriptor = unsafe { sys::socket(sys::AF_INET, kind, 0) };
        if descriptor < 0 {
            return Err(last_error());
        }
        let owned = Owned(descriptor);
        sys::close_on_exec(descriptor);
        owned.set_non_blocking()?;
        Ok(owned)
    }

    fn set_non_blocking(&self) -> Result<(), SocketError> {
        // SAFETY: F_GETFL takes no argument; the descriptor is open as long as `self` lives.
        let flags = unsafe { sys::fcntl(self.0, sys::F_GETFL) };
        if flags < 0 {
            return Err(last_error());
        }
        // SAFETY: F_SETFL takes one int.
        check(unsafe { sys::fcntl(self.0, sys::F_SETFL, flags | sys::O_NONBLOCK) })
    }

    fn set_option<T>(&self, level: c_int, name: c_int, value: &T) -> Result<(), SocketError> {
        let size = size_of_val(value) as socklen_t;
        // SAFETY: `value` is readable for `size` bytes during the call, which copies it.
        check(unsafe { sys::setsockopt(self.0, level, name, (value as *const T).cast::<c_void>(), size) })
    }

    fn set_flag(&self, level: c_int, name: c_int, on: bool) -> Result<(), SocketError> {
        self.set_option(level, name, &c_int::from(on))
    }

    /// Asks for a receive buffer of so many bytes, and for half of it as long as the stack refuses: the legacy one has
    /// an upper limit. What it gives by itself has to do in the end.
    fn enlarge_receive_buffer(&self, bytes: u32) {
        let mut wanted = bytes as c_int;
        while wanted >= SMALLEST_REQUEST && self.set_option(sys::SOL_SOCKET, sys::SO_RCVBUF, &wanted).is_err()
        {
            wanted /= 2;
        }
    }

    fn bind(&self, at: Address) -> Result<(), SocketError> {
        let address = sys::socket_address(at.ip, at.port);
        // SAFETY: `address` is a whole sockaddr_in and outlives the call.
        check(unsafe { sys::bind(self.0, (&raw const address).cast::<sockaddr>(), ADDRESS_SIZE) })
    }

    fn local(&self) -> Result<Address, SocketError> {
        let mut address = sys::socket_address(0, 0);
        let mut size = ADDRESS_SIZE;
        // SAFETY: both pointers are to locals; `size` says how much room the first has.
        check(unsafe { sys::getsockname(self.0, (&raw mut address).cast::<sockaddr>(), &mut size) })?;
        Ok(from_c(&address))
    }
}

/// No stack gives a datagram socket less than this, in bytes.
const SMALLEST_REQUEST: c_int = 64 << 10;

const ADDRESS_SIZE: socklen_t = size_of::<sockaddr_in>() as socklen_t;

fn from_c(address: &sockaddr_in) -> Address {
    Address { ip: u32::from_be(address.sin_addr.s_addr), port: u16::from_be(address.sin_port) }
}

fn check(result: c_int) -> Result<(), SocketError> {
    if result < 0 { Err(last_error()) } else { Ok(()) }
}

/// The result of a call that returns a size or -1.
fn size(result: isize) -> Result<usize, SocketError> {
    usize::try_from(result).map_err(|_| last_error())
}

/// What errno means to us.
pub(crate) fn last_error() -> SocketError {
    meaning(sys::errno())
}

fn meaning(errno: i32) -> SocketError {
    match errno {
        sys::EAGAIN => SocketError::WouldBlock,
        sys::EINTR => SocketError::Interrupted,
        sys::ENOBUFS | sys::ENOMEM => SocketError::NoBuffers,
        sys::EPIPE | sys::ECONNRESET | sys::ECONNABORTED | sys::ETIMEDOUT => SocketError::Closed,
        sys::EMFILE | sys::ENFILE => SocketError::TooManyDescriptors,
        sys::ENOTCONN => SocketError::NotConnected,
        sys::EINPROGRESS => SocketError::InProgress,
        sys::ECONNREFUSED => SocketError::Refused,
        sys::EADDRINUSE => SocketError::AddressInUse,
        sys::EADDRNOTAVAIL => SocketError::AddressNotAvailable,
        sys::EACCES | sys::EPERM => SocketError::NotPermitted,
        other => SocketError::Other(other),
    }
}

/// A connected TCP socket.
#[derive(Debug)]
pub struct BsdStream(Owned);

impl BsdStream {
    /// Starts to connect; writable when that has ended.
    pub fn connect(to: Address) -> Result<BsdStream, SocketError> {
        let socket = Owned::open(sys::SOCK_STREAM)?;
        match connect(&socket, to) {
            Ok(()) | Err(SocketError::InProgress) => Ok(BsdStream(socket)),
            Err(error) => Err(error),
        }
    }
}

fn connect(socket: &Owned, to: Address) -> Result<(), SocketError> {
    let address = sys::socket_address(to.ip, to.port);
    // SAFETY: `address` is a whole sockaddr_in and outlives the call.
    check(unsafe { sys::connect(socket.0, (&raw const address).cast::<sockaddr>(), ADDRESS_SIZE) })
}

impl Stream for BsdStream {
    fn descriptor(&self) -> Descriptor {
        self.0.0
    }

    fn recv(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        // SAFETY: the buffer is writable for its length during the call.
        size(unsafe { sys::recv(self.0.0, buffer.as_mut_ptr().cast::<c_void>(), buffer.len(), 0) })
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, SocketError> {
        sys::ask_for_buffers(bytes.len())?;
        // SAFETY: the bytes are readable for their length during the call.
        size(unsafe { sys::send(self.0.0, bytes.as_ptr().cast::<c_void>(), bytes.len(), sys::SEND_FLAGS) })
    }

    fn shutdown(&mut self, how: Shutdown) {
        let how = match how {
            Shutdown::Write => sys::SHUT_WR,
            Shutdown::Both => sys::SHUT_RDWR,
        };
        // SAFETY: shutdown() takes integers only; the descriptor is open as long as `self` lives.
        unsafe { sys::shutdown(self.0.0, how) };
    }

    fn error(&mut self) -> Result<(), SocketError> {
        let mut errno: c_int = 0;
        let mut size = size_of::<c_int>() as socklen_t;
        // SAFETY: both pointers are to locals; `size` says how much room the first has.
        check(unsafe {
            sys::getsockopt(
                self.0.0,
                sys::SOL_SOCKET,
                sys::SO_ERROR,
                (&raw mut errno).cast::<c_void>(),
                &mut size,
            )
        })?;
        if errno == 0 { Ok(()) } else { Err(meaning(errno)) }
    }

    fn set_no_delay(&mut self, on: bool) -> Result<(), SocketError> {
        self.0.set_flag(sys::IPPROTO_TCP, sys::TCP_NODELAY, on)
    }

    fn set_keep_alive(&mut self, on: bool) -> Result<(), SocketError> {
        self.0.set_flag(sys::SOL_SOCKET, sys::SO_KEEPALIVE, on)
    }
}

/// A listening TCP socket.
#[derive(Debug)]
pub struct BsdListener {
    socket: Owned,
    local: Address,
}

impl BsdListener {
    /// Binds and listens.
    pub fn open(at: Address, backlog: u16) -> Result<BsdListener, SocketError> {
        let socket = Owned::open(sys::SOCK_STREAM)?;
        socket.set_flag(sys::SOL_SOCKET, sys::SO_REUSEADDR, true)?;
        socket.bind(at)?;
        // SAFETY: listen() takes integers only.
        check(unsafe { sys::listen(socket.0, c_int::from(backlog)) })?;
        let local = socket.local()?;
        Ok(BsdListener { socket, local })
    }
}

impl Listener for BsdListener {
    type Stream = BsdStream;

    fn descriptor(&self) -> Descriptor {
        self.socket.0
    }

    fn accept(&mut self) -> Result<(BsdStream, Address), SocketError> {
        sys::ask_for_buffers(0)?;
        let mut address = sys::socket_address(0, 0);
        let mut size = ADDRESS_SIZE;
        // SAFETY: both pointers are to locals; `size` says how much room the first has.
        let descriptor =
            unsafe { sys::accept(self.socket.0, (&raw mut address).cast::<sockaddr>(), &mut size) };
        if descriptor < 0 {
            return Err(last_error());
        }
        let owned = Owned(descriptor);
        sys::close_on_exec(descriptor);
        owned.set_non_blocking()?;
        Ok((BsdStream(owned), from_c(&address)))
    }

    fn local(&self) -> Address {
        self.local
    }
}

/// A UDP socket.
#[derive(Debug)]
pub struct BsdDatagram {
    socket: Owned,
    local: Address,
}

impl BsdDatagram {
    /// Opens and binds.
    pub fn open(at: Address, options: DatagramOptions) -> Result<BsdDatagram, SocketError> {
        let socket = Owned::open(sys::SOCK_DGRAM)?;
        if options.shared {
            socket.set_flag(sys::SOL_SOCKET, sys::SO_REUSEADDR, true)?;
            socket.set_flag(sys::SOL_SOCKET, sys::SO_REUSEPORT, true)?;
        }
        if options.broadcast {
            socket.set_flag(sys::SOL_SOCKET, sys::SO_BROADCAST, true)?;
        }
        socket.enlarge_receive_buffer(options.receive_buffer);
        socket.set_option(sys::IPPROTO_IP, sys::IP_MULTICAST_TTL, &options.multicast_ttl)?;
        socket.bind(at)?;
        let local = socket.local()?;
        Ok(BsdDatagram { socket, local })
    }

    /// Connects to itself: then it hears nobody else, and one byte sent on it wakes whoever polls it.
    #[cfg_attr(feature = "legacy-network", allow(dead_code, reason = "only poll needs a waker"))]
    pub(super) fn connect_to_itself(&self) -> Result<(), SocketError> {
        connect(&self.socket, self.local)
    }

    /// Sends to the connected address, from any task.
    #[cfg_attr(feature = "legacy-network", allow(dead_code, reason = "only poll needs a waker"))]
    pub(super) fn send_connected(&self, bytes: &[u8]) -> Result<usize, SocketError> {
        // SAFETY: the bytes are readable for their length during the call.
        size(unsafe {
            sys::send(self.socket.0, bytes.as_ptr().cast::<c_void>(), bytes.len(), sys::SEND_FLAGS)
        })
    }

    /// Reads from the connected address.
    #[cfg_attr(feature = "legacy-network", allow(dead_code, reason = "only poll needs a waker"))]
    pub(super) fn recv_connected(&self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        // SAFETY: the buffer is writable for its length during the call.
        size(unsafe { sys::recv(self.socket.0, buffer.as_mut_ptr().cast::<c_void>(), buffer.len(), 0) })
    }
}

impl Datagram for BsdDatagram {
    fn descriptor(&self) -> Descriptor {
        self.socket.0
    }

    fn recv_from(&mut self, buffer: &mut [u8]) -> Result<(usize, Address), SocketError> {
        let mut address = sys::socket_address(0, 0);
        let mut address_size = ADDRESS_SIZE;
        // SAFETY: the buffer is writable for its length, `address` for `address_size` bytes, during the call.
        let received = size(unsafe {
            sys::recvfrom(
                self.socket.0,
                buffer.as_mut_ptr().cast::<c_void>(),
                buffer.len(),
                0,
                (&raw mut address).cast::<sockaddr>(),
                &mut address_size,
            )
        })?;
        Ok((received, from_c(&address)))
    }

    fn send_to(&mut self, bytes: &[u8], to: Address) -> Result<(), SocketError> {
        sys::ask_for_buffers(bytes.len())?;
        let address = sys::socket_address(to.ip, to.port);
        // SAFETY: the bytes are readable for their length and `address` is whole, during the call.
        size(unsafe {
            sys::sendto(
                self.socket.0,
                bytes.as_ptr().cast::<c_void>(),
                bytes.len(),
                sys::SEND_FLAGS,
                (&raw const address).cast::<sockaddr>(),
                ADDRESS_SIZE,
            )
        })
        .map(|_| ())
    }

    fn join(&mut self, group: u32, interface: u32) -> Result<(), SocketError> {
        let request = sys::ip_mreq {
            imr_multiaddr: sys::in_addr { s_addr: group.to_be() },
            imr_interface: sys::in_addr { s_addr: interface.to_be() },
        };
        self.socket.set_option(sys::IPPROTO_IP, sys::IP_ADD_MEMBERSHIP, &request)
    }

    fn local(&self) -> Address {
        self.local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: Address = Address::new(Address::LOOPBACK, 0);
    const PLAIN: DatagramOptions =
        DatagramOptions { shared: false, broadcast: false, receive_buffer: 0, multicast_ttl: 1 };

    /// Waits up to a second for something that arrives through the kernel.
    fn soon<T>(mut call: impl FnMut() -> Result<T, SocketError>) -> Result<T, SocketError> {
        for _ in 0..1000 {
            match call() {
                Err(SocketError::WouldBlock) => std::thread::sleep(std::time::Duration::from_millis(1)),
                other => return other,
            }
        }
        Err(SocketError::WouldBlock)
    }

    #[test]
    fn a_connection_carries_bytes_both_ways_and_ends() {
        let mut listener = BsdListener::open(LOCAL, 4).unwrap();
        assert_eq!(listener.accept().unwrap_err(), SocketError::WouldBlock);
        let mut client = BsdStream::connect(listener.local()).unwrap();
        let (mut server, peer) = soon(|| listener.accept()).unwrap();
        assert_eq!(peer.ip, Address::LOOPBACK);
        server.set_no_delay(true).unwrap();
        server.set_keep_alive(true).unwrap();
        let mut buffer = [0; 8];
        assert_eq!(server.recv(&mut buffer), Err(SocketError::WouldBlock));
        assert_eq!(client.send(b"hello"), Ok(5));
        assert_eq!(soon(|| server.recv(&mut buffer)), Ok(5));
        assert_eq!(&buffer[..5], b"hello");
        server.shutdown(Shutdown::Write);
        assert_eq!(soon(|| client.recv(&mut buffer)), Ok(0));
        drop(server);
        let _ = client.send(b"x");
        assert_eq!(soon(|| client.send(b"x")), Err(SocketError::Closed));
    }

    #[test]
    fn a_port_in_use_and_a_foreign_address_are_named_as_such() {
        let taken = BsdListener::open(LOCAL, 4).unwrap();
        assert_eq!(BsdListener::open(taken.local(), 4).unwrap_err(), SocketError::AddressInUse);
        let foreign = Address::new(0xc000_0201, 0);
        assert_eq!(BsdDatagram::open(foreign, PLAIN).unwrap_err(), SocketError::AddressNotAvailable);
    }

    #[test]
    fn shared_ports_are_shared_and_others_are_not() {
        let shared = DatagramOptions { shared: true, receive_buffer: 65536, ..PLAIN };
        let first = BsdDatagram::open(LOCAL, shared).unwrap();
        assert!(BsdDatagram::open(first.local(), shared).is_ok());
        assert_eq!(BsdDatagram::open(first.local(), PLAIN).unwrap_err(), SocketError::AddressInUse);
    }

    #[test]
    fn a_datagram_says_who_sent_it() {
        let mut a = BsdDatagram::open(LOCAL, PLAIN).unwrap();
        let mut b = BsdDatagram::open(LOCAL, PLAIN).unwrap();
        a.send_to(b"search", b.local()).unwrap();
        let mut buffer = [0; 16];
        assert_eq!(soon(|| b.recv_from(&mut buffer)), Ok((6, a.local())));
        assert_eq!(b.recv_from(&mut buffer), Err(SocketError::WouldBlock));
    }
}
