// SPDX-License-Identifier: BSD-2-Clause
//! Taking connections, and what to do when no descriptor is left for them.
//!
//! Without descriptors a listening socket stays ready for ever: it is left alone for a while instead of spun on, the
//! clients wait in its backlog, one line is logged, and one more when descriptors have come back.

use crate::os::socket::{Address, Listener, SocketError, Stream};
use crate::os::{Interest, Poller};

/// How long to wait for descriptors or buffers before trying again.
const BACK_OFF_MS: u64 = 250;

/// A listening socket and its state.
pub struct Acceptor<L> {
    listener: L,
    token: usize,
    retry_at: Option<u64>,
    complained: bool,
    /// Somebody may be waiting: not every poller would report that again.
    ready: bool,
}

impl<L: Listener> Acceptor<L> {
    /// Registers a listening socket.
    pub fn new(listener: L, token: usize, poller: &mut impl Poller) -> Result<Self, SocketError> {
        poller.watch(token, listener.descriptor(), Interest::READ)?;
        Ok(Acceptor { listener, token, retry_at: None, complained: false, ready: false })
    }

    /// Where it listens.
    pub fn local(&self) -> Address {
        self.listener.local()
    }

    /// Its token in the poller.
    pub fn token(&self) -> usize {
        self.token
    }

    /// It waits for descriptors: a new client could not be served now.
    pub fn is_exhausted(&self) -> bool {
        self.retry_at.is_some()
    }

    /// When it will try again, if it waits.
    pub fn retry_at(&self) -> Option<u64> {
        self.retry_at
    }

    /// The poller found somebody waiting.
    pub fn ready(&mut self) {
        self.ready = true;
    }

    /// Somebody may be waiting, and it has descriptors as far as is known.
    pub fn is_ready(&self) -> bool {
        self.ready && self.retry_at.is_none()
    }

    /// It is worth a try: somebody may be waiting, and the time to do without descriptors is over.
    pub fn wants_accept(&self, now: u64) -> bool {
        self.retry_at.map_or(self.ready, |at| now >= at)
    }

    /// A descriptor of ours was closed: no need to wait longer.
    pub fn descriptor_freed(&mut self) {
        if let Some(at) = &mut self.retry_at {
            *at = 0;
        }
    }

    /// The next waiting connection, its options set.
    pub fn accept(&mut self, now: u64, poller: &mut impl Poller) -> Option<(L::Stream, Address)> {
        loop {
            match self.listener.accept() {
                Ok((mut stream, peer)) => {
                    self.resume(poller);
                    // A connection that is dead already fails here; its recv will say so.
                    let _ = stream.set_no_delay(true);
                    let _ = stream.set_keep_alive(true);
                    return Some((stream, peer));
                }
                Err(SocketError::Interrupted | SocketError::Closed | SocketError::NotConnected) => continue,
                Err(SocketError::WouldBlock) => {
                    // Nobody is waiting: whether there are descriptors will show when somebody is.
                    self.ready = false;
                    self.resume(poller);
                    return None;
                }
                Err(error) => {
                    self.back_off(error, now, poller);
                    return None;
                }
            }
        }
    }

    fn back_off(&mut self, error: SocketError, now: u64, poller: &mut impl Poller) {
        // Buffers are short for everybody, and come back by themselves: that is not this listener's to say.
        if !self.complained && error != SocketError::NoBuffers {
            log::warn!("{}: cannot accept a client: {error}; serving the others", self.listener.local());
            self.complained = true;
        }
        self.retry_at = Some(now + BACK_OFF_MS);
        // Taking interest away never fails.
        let _ = poller.watch(self.token, self.listener.descriptor(), Interest::NONE);
    }

    fn resume(&mut self, poller: &mut impl Poller) {
        if self.retry_at.take().is_none() {
            return;
        }
        // The place in the poller is there already, so this does not fail.
        let _ = poller.watch(self.token, self.listener.descriptor(), Interest::READ);
        if self.complained {
            log::warn!("{}: accepting clients again", self.listener.local());
            self.complained = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::socket::scripted::{Control, ScriptedListener, Watched};

    #[test]
    fn without_descriptors_it_waits_and_recovers() {
        let listener = ScriptedListener::default();
        let mut poller = Watched::default();
        let mut acceptor = Acceptor::new(listener.clone(), 0, &mut poller).unwrap();
        let push = |answer| listener.accepts.lock().unwrap().push_back(answer);
        push(Err(SocketError::Interrupted));
        push(Ok(Control::default()));
        push(Err(SocketError::TooManyDescriptors));
        assert!(acceptor.accept(1000, &mut poller).is_some());
        assert!(acceptor.accept(1000, &mut poller).is_none());
        assert!(acceptor.is_exhausted());
        assert_eq!(poller.0, Some(Interest::NONE));
        assert!(!acceptor.wants_accept(1000 + BACK_OFF_MS - 1));
        assert!(acceptor.wants_accept(1000 + BACK_OFF_MS));
        push(Err(SocketError::TooManyDescriptors));
        assert!(acceptor.accept(2000, &mut poller).is_none());
        acceptor.descriptor_freed();
        assert!(acceptor.wants_accept(2000));
        let control = Control::default();
        push(Ok(control.clone()));
        let accepted = acceptor.accept(2000, &mut poller);
        assert!(accepted.is_some() && control.script().no_delay);
        assert!(!acceptor.is_exhausted());
        assert_eq!(poller.0, Some(Interest::READ));
    }

    #[test]
    fn a_connection_that_was_reset_while_waiting_is_skipped() {
        let listener = ScriptedListener::default();
        let mut poller = Watched::default();
        let mut acceptor = Acceptor::new(listener.clone(), 0, &mut poller).unwrap();
        listener.accepts.lock().unwrap().push_back(Err(SocketError::Closed));
        listener.accepts.lock().unwrap().push_back(Ok(Control::default()));
        assert!(acceptor.accept(0, &mut poller).is_some());
        assert!(acceptor.accept(0, &mut poller).is_none());
        assert!(!acceptor.is_exhausted());
    }
}
