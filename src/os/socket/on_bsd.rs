// SPDX-License-Identifier: BSD-2-Clause
//! The sockets of a [`System`](crate::os::System), where they are those of BSD.

/// What every [`System`](crate::os::System) on BSD sockets has in common; only the poller differs.
macro_rules! on_bsd_sockets {
    ($poller:ty) => {
        type Stream = $crate::os::socket::bsd::BsdStream;
        type Listener = $crate::os::socket::bsd::BsdListener;
        type Datagram = $crate::os::socket::bsd::BsdDatagram;
        type Poller = $poller;

        fn listen(
            &self,
            at: $crate::os::socket::Address,
            backlog: u16,
        ) -> Result<Self::Listener, $crate::os::socket::SocketError> {
            Self::Listener::open(at, backlog)
        }

        fn datagram(
            &self,
            at: $crate::os::socket::Address,
            options: $crate::os::socket::DatagramOptions,
        ) -> Result<Self::Datagram, $crate::os::socket::SocketError> {
            Self::Datagram::open(at, options)
        }

        fn connect(
            &self,
            to: $crate::os::socket::Address,
        ) -> Result<Self::Stream, $crate::os::socket::SocketError> {
            Self::Stream::connect(to)
        }

        fn poller(&self) -> Result<Self::Poller, $crate::os::socket::SocketError> {
            <$poller>::new()
        }
    };
}
pub(in crate::os) use on_bsd_sockets;
