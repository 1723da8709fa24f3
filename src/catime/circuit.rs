// SPDX-License-Identifier: BSD-2-Clause
//! One TCP connection to a server: bytes gathered for sending, messages found in what came.

use super::error::ClientError;
use crate::ca::wire::{Header, MINOR, command, padded};
use crate::os::socket::{Address, SocketError, Stream};
use alloc::vec::Vec;

/// Gathered bytes from which on they are sent.
pub(super) const SEND_AT: usize = 16 * 1024;
/// Bytes asked for in one read, at first.
const RECEIVE: usize = 32 * 1024;
/// A reply larger than this is taken for damage, bytes.
const LARGEST: usize = 64 * 1024 * 1024;

/// A circuit.
#[derive(Debug)]
pub(super) struct Circuit<T> {
    pub(super) stream: T,
    pub(super) peer: Address,
    /// Bytes gathered, of which the first `sent` are gone.
    output: Vec<u8>,
    sent: usize,
    /// Bytes received, of which the first `parsed` are done with.
    input: Vec<u8>,
    filled: usize,
    short_is_all: bool,
}

/// Nothing to do now; a connect that goes on looks like this, too, differently on each stack.
fn is_transient(error: SocketError) -> bool {
    use SocketError::{InProgress, NoBuffers, NotConnected, WouldBlock};
    matches!(error, WouldBlock | NoBuffers | InProgress | NotConnected)
}

impl<T: Stream> Circuit<T> {
    /// Greets the server: version, user and host name. They wait until the connection stands.
    /// `short_is_all`: a read that does not fill the buffer need not be followed by another.
    pub(super) fn new(
        stream: T,
        peer: Address,
        (user, host): (&str, &str),
        short_is_all: bool,
    ) -> Result<Circuit<T>, ClientError> {
        let (mut output, mut input) = (Vec::new(), Vec::new());
        output.try_reserve_exact(SEND_AT).map_err(|_| ClientError::NoMemory)?;
        input.try_reserve_exact(RECEIVE).map_err(|_| ClientError::NoMemory)?;
        input.resize(RECEIVE, 0);
        let mut circuit = Circuit { stream, peer, output, sent: 0, input, filled: 0, short_is_all };
        circuit.message(Header::new(command::VERSION).typed(0, u32::from(MINOR)), 0)?;
        for (command, text) in [(command::CLIENT_NAME, user), (command::HOST_NAME, host)] {
            let field = circuit.message(Header::new(command), text.len() + 1)?;
            field[..text.len()].copy_from_slice(text.as_bytes());
        }
        Ok(circuit)
    }

    /// Appends a message with room for `bytes` of payload, zeroed and padded, and lends that room.
    pub(super) fn message(&mut self, header: Header, bytes: usize) -> Result<&mut [u8], ClientError> {
        let payload = padded(bytes);
        let header = header.with_payload(u32::try_from(payload).map_err(|_| ClientError::NoMemory)?);
        let start = self.output.len();
        let body = start + header.wire_size();
        self.output.try_reserve(body + payload - start).map_err(|_| ClientError::NoMemory)?;
        self.output.resize(body + payload, 0);
        header.emit(&mut self.output[start..]);
        Ok(&mut self.output[body..])
    }

    /// Bytes gathered and not sent.
    pub(super) fn pending(&self) -> usize {
        self.output.len() - self.sent
    }

    /// Sends what the connection takes now.
    pub(super) fn flush(&mut self) -> Result<(), ClientError> {
        while self.sent < self.output.len() {
            match self.stream.send(&self.output[self.sent..]) {
                Ok(bytes) => self.sent += bytes,
                Err(SocketError::Interrupted) => {}
                Err(error) if is_transient(error) => return Ok(()),
                Err(error) => return Err(ClientError::Circuit(self.peer, error)),
            }
        }
        self.output.clear();
        self.sent = 0;
        Ok(())
    }

    /// Reads what is there and hands each whole message to `take`.
    pub(super) fn receive(&mut self, mut take: impl FnMut(&Header, &[u8])) -> Result<(), ClientError> {
        loop {
            let room = &mut self.input[self.filled..];
            let wanted = room.len();
            let got = match self.stream.recv(room) {
                Ok(0) => return Err(ClientError::Circuit(self.peer, SocketError::Closed)),
                Ok(got) => got,
                Err(SocketError::Interrupted) => continue,
                Err(error) if is_transient(error) => return Ok(()),
                Err(error) => return Err(ClientError::Circuit(self.peer, error)),
            };
            self.filled += got;
            self.parse(&mut take)?;
            // A short read has emptied the socket: asking again would only cost a call. But where each change is told of
            // once, the end may have come along with these bytes, and nobody would tell of it again.
            if got < wanted && self.short_is_all {
                return Ok(());
            }
        }
    }

    fn parse(&mut self, take: &mut impl FnMut(&Header, &[u8])) -> Result<(), ClientError> {
        let mut start = 0;
        let bytes = &self.input[..self.filled];
        let mut needed = 0;
        while let Ok((header, size)) = Header::parse(&bytes[start..], true) {
            let payload = header.payload as usize;
            if payload > LARGEST {
                return Err(ClientError::Damaged(self.peer));
            }
            let end = start + size + payload;
            if end > bytes.len() {
                needed = size + payload;
                break;
            }
            take(&header, &bytes[start + size..end]);
            start = end;
        }
        self.input.copy_within(start..self.filled, 0);
        self.filled -= start;
        if needed > self.input.len() {
            let more = needed - self.input.len();
            self.input.try_reserve_exact(more).map_err(|_| ClientError::NoMemory)?;
            self.input.resize(needed, 0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::socket::scripted::Control;

    #[test]
    fn an_end_that_comes_with_the_last_bytes_is_seen_where_nobody_tells_of_it_again() {
        let received = |short_is_all| {
            let control = Control::default().receives(b"last").receives_end();
            let peer = Address::new(Address::LOOPBACK, 5064);
            Circuit::new(control.stream(), peer, ("user", "host"), short_is_all).unwrap().receive(|_, _| {})
        };
        assert_eq!(received(true), Ok(()));
        assert!(matches!(received(false), Err(ClientError::Circuit(_, SocketError::Closed))));
    }
}
