// SPDX-License-Identifier: BSD-2-Clause
//! Channels: created, cleared, and told when their rights change or their process variable goes.

use super::super::channels::{Channel, ChannelNotice, Channels};
use super::super::provider::Access;
use super::super::search::name_in;
use super::super::slab::NONE;
use super::*;

/// Largest count that a client before V4.9 can be told.
const SHORT_COUNT: u32 = 0xfffe;
/// Since this minor version the server may close a single channel.
const SERVER_DISCONN: u16 = 7;

impl<P: Provider, A: Admission> Turn<'_, P, A> {
    pub(super) fn create_channel(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        let cid = header.p1;
        // The minor version again; it is all that a client tells which did not begin with VERSION.
        self.session.minor = Some(header.p2.min(u32::from(u16::MAX)) as u16);
        let Some(pv) = name_in(request.payload).and_then(|name| self.provider.find(name)) else {
            self.output.bare(Header::new(command::CREATE_CH_FAIL).ids(cid, 0));
            return Flow::Next;
        };
        let limits = &self.config.limits;
        let refusal = if self.channels.len() >= limits.channels
            || self.session.channels >= limits.channels_per_circuit
        {
            Some((Cause::Limit, "as many channels as there may be"))
        } else if !self.admission.admits(self.channels.growth()) {
            Some((Cause::Memory, "no memory for another channel"))
        } else {
            None
        };
        if let Some((cause, text)) = refusal {
            return self.refuse_channel(cid, cause, text);
        }
        let info = self.provider.info(pv);
        let access = self.provider.access(pv, &self.session.client());
        let Ok(sid) = self.channels.create(self.session, self.slot, cid, pv, info, access) else {
            return self.refuse_channel(cid, Cause::Memory, "no memory for another channel");
        };
        self.statistics.channels = self.channels.len();
        self.output.bare(access_rights(cid, access));
        let count =
            if self.session.speaks(LONG_HEADERS) { info.max_count } else { info.max_count.min(SHORT_COUNT) };
        self.output.bare(Header::new(command::CREATE_CHAN).typed(info.native as u16, count).ids(cid, sid));
        Flow::Next
    }

    #[cold]
    fn refuse_channel(&mut self, cid: u32, cause: Cause, text: &str) -> Flow {
        self.statistics.channels_refused += 1;
        self.output.bare(Header::new(command::CREATE_CH_FAIL).ids(cid, 0));
        let peer = self.session.peer;
        self.notes.say(peer, cause, self.now, format_args!("channel refused: {text}"));
        Flow::Next
    }

    pub(super) fn clear_channel(&mut self, request: &Request<'_>) -> Flow {
        let header = &request.header;
        if self.channels.get(header.p1, self.slot).is_none() {
            return self.fail(request, status::BADCHID, "no such channel");
        }
        self.delete_channel(Channels::index(header.p1));
        self.output.bare(Header { payload: 0, ..*header });
        Flow::Next
    }

    /// Deletes a channel with its monitors and put-callbacks.
    pub(in super::super) fn delete_channel(&mut self, index: u32) {
        let Some(channel) = self.channels.at(index) else { return };
        let (pv, mut last) = (channel.pv, channel.monitors);
        while last != NONE {
            let first = self.monitors.after_in_channel(last);
            if self.monitors.remove(self.session, first, last, &mut last) {
                self.provider.watched(pv, false);
            }
        }
        self.channels.delete(self.session, index);
        if self.session.puts > 0 {
            let (gone, ended) = self.puts.forget(self.slot, index);
            self.session.puts -= gone;
            self.session.puts_ended -= ended;
            self.statistics.puts_in_progress = self.puts.len();
        }
        self.statistics.channels = self.channels.len();
        self.statistics.monitors = self.monitors.len();
    }

    /// Tells the client of channels whose rights have changed or whose process variable is gone.
    pub(super) fn send_notices(&mut self) {
        let mut at = self.session.first_channel;
        while self.session.notices > 0 && at != NONE {
            let index = at;
            at = self.channels.after(index);
            let Some(Channel { cid, access, notice: Some(notice), .. }) = self.channels.at(index) else {
                continue;
            };
            let (cid, access, notice) = (*cid, *access, *notice);
            if !self.output.has_room(SMALL_REPLY) {
                self.stall();
                return;
            }
            match notice {
                ChannelNotice::Access => {
                    self.clear_notice(index);
                    self.output.bare(access_rights(cid, access));
                    self.owe_all_monitors(index, access);
                }
                ChannelNotice::Gone if self.session.speaks(SERVER_DISCONN) => {
                    self.output.bare(Header::new(command::SERVER_DISCONN).ids(cid, 0));
                    self.delete_channel(index);
                }
                ChannelNotice::Gone => {
                    self.session.closing = true;
                    return;
                }
            }
        }
    }

    fn clear_notice(&mut self, index: u32) {
        if let Some(channel) = self.channels.at_mut(index)
            && channel.notice.take().is_some()
        {
            self.session.notices -= 1;
        }
    }

    /// After a change of read access every monitor hears of it: the value again, or that there is none.
    fn owe_all_monitors(&mut self, index: u32, access: Access) {
        let last = self.channels.at(index).map_or(NONE, |c| c.monitors);
        let mut at = last;
        while at != NONE {
            at = self.monitors.after_in_channel(at);
            let Some(monitor) = self.monitors.get_mut(at) else { return };
            if monitor.readable != access.read {
                monitor.readable = access.read;
                self.monitors.queue(self.session, at);
            }
            if at == last {
                return;
            }
        }
    }
}

fn access_rights(cid: u32, access: Access) -> Header {
    Header::new(command::ACCESS_RIGHTS).ids(cid, u32::from(access.read) | u32::from(access.write) << 1)
}
