// SPDX-License-Identifier: BSD-2-Clause
//! The channels of all circuits. A server id is the entry's index and a generation: finding a channel is indexing.

use super::circuits::Session;
use super::provider::{Access, ChannelInfo, PvId};
use super::slab::{NONE, NoMemory, Slab};
use crate::value::NativeType;

/// One channel: a client's handle on a process variable.
#[derive(Debug)]
pub(super) struct Channel {
    /// The client's id of it.
    pub(super) cid: u32,
    pub(super) pv: PvId,
    pub(super) max_count: u32,
    /// Neighbours in the list of the circuit's channels.
    next: u32,
    prev: u32,
    /// Last of the circular list of this channel's monitors, or `NONE`.
    pub(super) monitors: u32,
    /// Slot of the circuit that owns it.
    pub(super) circuit: u16,
    generation: u8,
    pub(super) native: NativeType,
    pub(super) access: Access,
    /// Set when the client has to be told something about this channel as soon as there is room.
    pub(super) notice: Option<ChannelNotice>,
}

/// What a client has to be told about a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelNotice {
    /// Its access rights have changed.
    Access,
    /// Its process variable is gone.
    Gone,
}

/// All channels.
pub(super) struct Channels {
    slab: Slab<Channel>,
    /// Generation of the next channel: an id of a deleted channel does not name its successor.
    generation: u8,
}

/// Ids have 24 bits of index.
const INDEX_BITS: u32 = 24;
/// More channels than ids.
pub(super) const MAX_CHANNELS: u32 = 1 << INDEX_BITS;

const fn index_of(sid: u32) -> u32 {
    sid & (MAX_CHANNELS - 1)
}

impl Channels {
    pub(super) const fn new() -> Self {
        Channels { slab: Slab::new(), generation: 1 }
    }

    pub(super) const fn len(&self) -> u32 {
        self.slab.len()
    }

    /// Bytes of one channel.
    pub(super) const fn entry_size() -> usize {
        Slab::<Channel>::entry_size()
    }

    /// Bytes of heap in use.
    pub(super) fn heap_bytes(&self) -> usize {
        self.slab.heap_bytes()
    }

    /// Bytes that one more channel may ask of the heap.
    pub(super) const fn growth(&self) -> usize {
        self.slab.growth()
    }

    /// The channel with this id, if it belongs to this circuit.
    #[inline]
    pub(super) fn get(&self, sid: u32, circuit: u16) -> Option<&Channel> {
        self.slab
            .get(index_of(sid))
            .filter(|c| c.generation == (sid >> INDEX_BITS) as u8 && c.circuit == circuit)
    }

    /// The same to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, sid: u32, circuit: u16) -> Option<&mut Channel> {
        self.slab
            .get_mut(index_of(sid))
            .filter(|c| c.generation == (sid >> INDEX_BITS) as u8 && c.circuit == circuit)
    }

    /// By index, as monitors know their channel.
    pub(super) fn at(&self, index: u32) -> Option<&Channel> {
        self.slab.get(index)
    }

    /// By index, to change it.
    pub(super) fn at_mut(&mut self, index: u32) -> Option<&mut Channel> {
        self.slab.get_mut(index)
    }

    /// Upper bound of the indices in use.
    pub(super) fn bound(&self) -> u32 {
        self.slab.bound()
    }

    /// The index of a channel in a server id.
    pub(super) const fn index(sid: u32) -> u32 {
        index_of(sid)
    }

    /// The channel after `index` in its circuit's list.
    pub(super) fn after(&self, index: u32) -> u32 {
        self.slab.get(index).map_or(NONE, |c| c.next)
    }

    /// Creates a channel on a circuit; returns the server id.
    pub(super) fn create(
        &mut self,
        session: &mut Session,
        circuit: u16,
        cid: u32,
        pv: PvId,
        info: ChannelInfo,
        access: Access,
    ) -> Result<u32, NoMemory> {
        let generation = self.generation;
        let next = session.first_channel;
        let index = self.slab.insert(Channel {
            cid,
            pv,
            max_count: info.max_count,
            next,
            prev: NONE,
            monitors: NONE,
            circuit,
            generation,
            native: info.native,
            access,
            notice: None,
        })?;
        if index >= MAX_CHANNELS {
            self.slab.remove(index);
            return Err(NoMemory);
        }
        self.generation = generation.wrapping_add(1);
        if let Some(neighbour) = self.slab.get_mut(next) {
            neighbour.prev = index;
        }
        session.first_channel = index;
        session.channels += 1;
        Ok(index | u32::from(generation) << INDEX_BITS)
    }

    /// Deletes a channel, which must have no monitors any more.
    pub(super) fn delete(&mut self, session: &mut Session, index: u32) {
        let Some(channel) = self.slab.remove(index) else { return };
        if let Some(neighbour) = self.slab.get_mut(channel.next) {
            neighbour.prev = channel.prev;
        }
        match self.slab.get_mut(channel.prev) {
            Some(neighbour) => neighbour.next = channel.next,
            None => session.first_channel = channel.next,
        }
        session.channels -= 1;
        if channel.notice.is_some() {
            session.notices -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: ChannelInfo = ChannelInfo { native: NativeType::Double, max_count: 1 };
    const RIGHTS: Access = Access { read: true, write: true, logged: false };
    const PV: PvId = PvId { index: 0, view: 0 };

    #[test]
    fn an_id_names_its_channel_on_its_circuit_only_and_only_as_long_as_it_lives() {
        let mut channels = Channels::new();
        let mut session = Session::default();
        let sid = channels.create(&mut session, 3, 77, PV, INFO, RIGHTS).unwrap();
        assert_eq!(channels.get(sid, 3).unwrap().cid, 77);
        assert!(channels.get(sid, 4).is_none());
        channels.delete(&mut session, Channels::index(sid));
        assert!(channels.get(sid, 3).is_none());
        let again = channels.create(&mut session, 3, 78, PV, INFO, RIGHTS).unwrap();
        assert_eq!(Channels::index(again), Channels::index(sid));
        assert_ne!(again, sid);
        assert!(channels.get(sid, 3).is_none());
    }

    #[test]
    fn a_circuit_lists_its_channels() {
        let mut channels = Channels::new();
        let mut session = Session::default();
        let sids: std::vec::Vec<u32> =
            (0..5).map(|cid| channels.create(&mut session, 0, cid, PV, INFO, RIGHTS).unwrap()).collect();
        channels.delete(&mut session, Channels::index(sids[2]));
        channels.delete(&mut session, Channels::index(sids[4]));
        channels.delete(&mut session, Channels::index(sids[0]));
        let mut found = std::vec::Vec::new();
        let mut at = session.first_channel;
        while at != NONE {
            found.push(channels.at(at).unwrap().cid);
            at = channels.after(at);
        }
        assert_eq!(found, [3, 1]);
        assert_eq!(session.channels, 2);
    }

    #[test]
    fn a_channel_is_small() {
        assert!(Channels::entry_size() <= 40, "{} bytes", Channels::entry_size());
    }
}
