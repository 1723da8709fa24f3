// SPDX-License-Identifier: BSD-2-Clause
//! Put-callbacks: WRITE_NOTIFY requests whose processing has not ended, or whose reply waits for room.

use super::slab::NoMemory;
use alloc::vec::Vec;

/// One put-callback in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put {
    /// The provider's name for it.
    pub(super) token: u32,
    pub(super) circuit: u16,
    /// Index of the channel.
    pub(super) channel: u32,
    /// Of the request, for the reply.
    pub(super) data_type: u16,
    pub(super) count: u32,
    pub(super) ioid: u32,
    /// ECA status once processing has ended.
    pub(super) ended: Option<u32>,
}

/// All of them; few at any time.
pub(super) struct Puts {
    list: Vec<Put>,
}

impl Puts {
    pub(super) const fn new() -> Self {
        Puts { list: Vec::new() }
    }

    pub(super) fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Makes sure that [`Self::push`] needs no memory: asked before the put is done, and when a circuit opens, so that
    /// a put finds the room there.
    pub(super) fn reserve(&mut self) -> Result<(), NoMemory> {
        self.list.try_reserve(1).map_err(|_| NoMemory)
    }

    pub(super) fn push(&mut self, put: Put) {
        self.list.push(put);
    }

    /// Notes the end of a put; returns its circuit. A put that nobody waits for any more is ignored.
    pub(super) fn end(&mut self, token: u32, status: u32) -> Option<u16> {
        let put = self.list.iter_mut().find(|p| p.token == token && p.ended.is_none())?;
        put.ended = Some(status);
        Some(put.circuit)
    }

    /// Takes a put of this circuit that has ended, the oldest first.
    pub(super) fn take_ended(&mut self, circuit: u16) -> Option<(Put, u32)> {
        let at = self.list.iter().position(|p| p.circuit == circuit && p.ended.is_some())?;
        let put = self.list.remove(at);
        Some((put, put.ended?))
    }

    /// Forgets the puts of a channel; returns how many there were, and how many of them had ended.
    pub(super) fn forget(&mut self, circuit: u16, channel: u32) -> (u16, u16) {
        let (mut gone, mut ended) = (0, 0);
        self.list.retain(|p| {
            let mine = p.circuit == circuit && p.channel == channel;
            gone += u16::from(mine);
            ended += u16::from(mine && p.ended.is_some());
            !mine
        });
        (gone, ended)
    }
}
