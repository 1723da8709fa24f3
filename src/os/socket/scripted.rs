// SPDX-License-Identifier: BSD-2-Clause
//! Sockets that do what a test wrote down: errors, short writes, resets, exhausted descriptors.
//!
//! A script that has run out answers "would block" to reads and takes everything to be sent.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{Address, Descriptor, Listener, Shutdown, SocketError, Stream};
use crate::os::{Interest, Poller, Readiness, Wake};

/// What one end of a scripted connection will do and has done.
#[derive(Debug, Default)]
pub struct Script {
    /// Answers to recv; an empty piece is the end of the stream. A piece that does not fit is given in parts.
    pub receives: VecDeque<Result<Vec<u8>, SocketError>>,
    /// Answers to send: at most so many bytes, or an error.
    pub sends: VecDeque<Result<usize, SocketError>>,
    /// Everything that was sent.
    pub sent: Vec<u8>,
    /// Shutdown was called for writing.
    pub write_shut: bool,
    /// Shutdown was called for both ways.
    pub both_shut: bool,
    /// The stream was dropped.
    pub closed: bool,
    /// TCP_NODELAY as set last.
    pub no_delay: bool,
}

impl Script {
    /// Some answers were not given yet.
    pub fn has_more(&self) -> bool {
        !self.receives.is_empty() || !self.sends.is_empty()
    }
}

/// A test's handle on a script; the stream made from it plays it.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Mutex<Script>>);

impl Control {
    /// A stream that plays this script.
    pub fn stream(&self) -> ScriptedStream {
        ScriptedStream(self.clone())
    }

    /// The script itself.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap()
    }

    /// Adds bytes to be received.
    pub fn receives(self, bytes: &[u8]) -> Control {
        self.script().receives.push_back(Ok(bytes.to_vec()));
        self
    }

    /// Adds a failing recv.
    pub fn receive_fails(self, error: SocketError) -> Control {
        self.script().receives.push_back(Err(error));
        self
    }

    /// Adds the end of the stream.
    pub fn receives_end(self) -> Control {
        self.receives(&[])
    }

    /// Adds a send that takes at most `most` bytes.
    pub fn sends(self, most: usize) -> Control {
        self.script().sends.push_back(Ok(most));
        self
    }

    /// Adds a failing send.
    pub fn send_fails(self, error: SocketError) -> Control {
        self.script().sends.push_back(Err(error));
        self
    }
}

/// Plays a [`Script`].
#[derive(Debug)]
pub struct ScriptedStream(Control);

impl ScriptedStream {
    /// The handle that it was made from.
    pub fn control(&self) -> &Control {
        &self.0
    }
}

impl Drop for ScriptedStream {
    fn drop(&mut self) {
        self.0.script().closed = true;
    }
}

impl Stream for ScriptedStream {
    fn descriptor(&self) -> Descriptor {
        1000
    }

    fn recv(&mut self, buffer: &mut [u8]) -> Result<usize, SocketError> {
        assert!(!buffer.is_empty(), "recv into nothing would look like the end of the stream");
        let mut script = self.0.script();
        match script.receives.pop_front() {
            None => Err(SocketError::WouldBlock),
            Some(Err(error)) => Err(error),
            Some(Ok(mut bytes)) => {
                let n = bytes.len().min(buffer.len());
                buffer[..n].copy_from_slice(&bytes[..n]);
                if n < bytes.len() {
                    script.receives.push_front(Ok(bytes.split_off(n)));
                }
                Ok(n)
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<usize, SocketError> {
        assert!(!bytes.is_empty(), "nothing to send");
        let mut script = self.0.script();
        let n = match script.sends.pop_front() {
            None => bytes.len(),
            Some(Ok(most)) => most.min(bytes.len()),
            Some(Err(error)) => return Err(error),
        };
        script.sent.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn shutdown(&mut self, how: Shutdown) {
        let mut script = self.0.script();
        match how {
            Shutdown::Write => script.write_shut = true,
            Shutdown::Both => script.both_shut = true,
        }
    }

    fn error(&mut self) -> Result<(), SocketError> {
        Ok(())
    }

    fn set_no_delay(&mut self, on: bool) -> Result<(), SocketError> {
        self.0.script().no_delay = on;
        Ok(())
    }

    fn set_keep_alive(&mut self, _on: bool) -> Result<(), SocketError> {
        Ok(())
    }
}

/// Hands out what a test wrote down; "would block" when that has run out.
#[derive(Clone, Debug, Default)]
pub struct ScriptedListener {
    /// Answers to accept.
    pub accepts: Arc<Mutex<VecDeque<Result<Control, SocketError>>>>,
}

impl Listener for ScriptedListener {
    type Stream = ScriptedStream;

    fn descriptor(&self) -> Descriptor {
        1001
    }

    fn accept(&mut self) -> Result<(ScriptedStream, Address), SocketError> {
        match self.accepts.lock().unwrap().pop_front() {
            None => Err(SocketError::WouldBlock),
            Some(Err(error)) => Err(error),
            Some(Ok(control)) => Ok((control.stream(), Address::new(Address::LOOPBACK, 40_000))),
        }
    }

    fn local(&self) -> Address {
        Address::new(Address::LOOPBACK, 5064)
    }
}

/// A poller of one socket: remembers what it is watched for, and never finds it ready.
#[derive(Debug, Default)]
pub struct Watched(pub Option<Interest>);

/// Wakes nobody.
pub struct NoWake;

impl Wake for NoWake {
    fn wake(&self) {}
}

impl Poller for Watched {
    const TELLS_STATE: bool = false;
    type Waker = NoWake;

    fn watch(&mut self, _: usize, _: Descriptor, interest: Interest) -> Result<(), SocketError> {
        self.0 = Some(interest);
        Ok(())
    }

    fn forget(&mut self, _: usize) {
        self.0 = None;
    }

    fn wait(&mut self, _: Option<u64>) -> Result<(), SocketError> {
        Ok(())
    }

    fn next_ready(&mut self, _: &mut usize) -> Option<(usize, Readiness)> {
        None
    }

    fn waker(&self) -> Result<NoWake, SocketError> {
        Ok(NoWake)
    }
}
