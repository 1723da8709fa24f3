// SPDX-License-Identifier: BSD-2-Clause
//! Model of the line between two stations: rate, delay, loss, and a station that believes in half duplex.
//!
//! Time is virtual and trails real time a little: all that happened until now is played in order, so that a relay which
//! wakes late still sends frames one after the other and lets them collide as they would have.

/// Bits between two frames on Ethernet.
const GAP_BITS: u64 = 96;
/// Bits that a station goes on sending after a collision, so that everybody hears of it.
const JAM_BITS: u64 = 48;
/// Bits after which a collision is late: the frame is lost instead of repeated.
const SLOT_BITS: u64 = 512;
/// Collisions after which a frame is given up.
const MOST_ATTEMPTS: u32 = 16;
/// Bytes that Ethernet adds to a packet: preamble, addresses, type and check sum.
const FRAME_BYTES: u64 = 26;
/// Bytes of the shortest packet in a frame.
const SHORTEST: u64 = 46;
/// How much a station may catch up after the relay was late, nanoseconds.
const CATCH_UP_NS: u64 = 3_000_000;
/// Frames on their way at most: more stay with their sender, as behind a full transmit ring.
const IN_FLIGHT: usize = 4096;

/// Properties of the line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Bits per second, each way.
    pub rate: u64,
    /// Added to each way, nanoseconds.
    pub delay_ns: u64,
    /// Fraction of the frames lost on the way from station 0 to station 1, and back.
    pub loss: [f64; 2],
    /// This station is set to half duplex while the other one is set to full duplex.
    pub half: Option<usize>,
}

impl Line {
    /// 100 Mbit/s, full duplex, no loss.
    pub const CLEAN: Line = Line { rate: 100_000_000, delay_ns: 50_000, loss: [0.0; 2], half: None };
}

/// A source and sink of packets: a TUN device, or a test's queue.
pub trait Station {
    /// The next packet, if there is one.
    fn take(&mut self) -> Option<Vec<u8>>;
    /// Delivers a packet.
    fn give(&mut self, packet: &[u8]);
}

/// A frame that a station is sending.
struct Sending {
    packet: Vec<u8>,
    start: u64,
    end: u64,
    spoilt: bool,
    attempts: u32,
}

/// What was seen on the line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub frames: u64,
    pub lost: u64,
    pub collisions: u64,
    pub late_collisions: u64,
}

#[derive(Default)]
struct Port {
    /// Not before this time may the next frame start.
    free_at: u64,
    /// When this station was last seen to have nothing to send.
    empty_at: u64,
    sending: Option<Sending>,
    /// A frame that waits for the line, or for another attempt.
    waiting: Option<(Vec<u8>, u32)>,
    /// On their way to the other station.
    flying: std::collections::VecDeque<(u64, Vec<u8>)>,
    tally: Tally,
}

/// The line and its two stations.
pub struct Relay<S> {
    line: Line,
    stations: [S; 2],
    ports: [Port; 2],
    random: u64,
}

impl<S: Station> Relay<S> {
    pub fn new(line: Line, stations: [S; 2], seed: u64) -> Relay<S> {
        Relay { line, stations, ports: Default::default(), random: seed | 1 }
    }

    /// What each station's frames met.
    pub fn tally(&self) -> [Tally; 2] {
        [self.ports[0].tally, self.ports[1].tally]
    }

    /// The station has nothing on the line and nothing waiting: a new packet would be taken at once.
    pub fn is_idle(&self, station: usize) -> bool {
        let port = &self.ports[station];
        port.sending.is_none() && port.waiting.is_none() && port.flying.len() < IN_FLIGHT
    }

    pub fn stations(&self) -> &[S; 2] {
        &self.stations
    }

    /// Plays all that happened until `now`; when something will happen next without a new packet.
    pub fn run(&mut self, now: u64) -> Option<u64> {
        loop {
            for station in 0..2 {
                self.begin(station, now);
            }
            // The earliest end of a frame comes first: it may let the other station start.
            let next = (0..2)
                .filter_map(|station| Some((self.ports[station].sending.as_ref()?.end, station)))
                .filter(|&(end, _)| end <= now)
                .min();
            let Some((_, station)) = next else { break };
            self.finish(station);
        }
        for station in 0..2 {
            while self.ports[station].flying.front().is_some_and(|&(at, _)| at <= now) {
                if let Some((_, packet)) = self.ports[station].flying.pop_front() {
                    self.stations[1 - station].give(&packet);
                }
            }
        }
        let port = |port: &Port| {
            let end = port.sending.as_ref().map(|sending| sending.end);
            let waits = port.waiting.is_some().then_some(port.free_at);
            [end, waits, port.flying.front().map(|&(at, _)| at)].into_iter().flatten().min()
        };
        self.ports.iter().filter_map(port).min()
    }

    fn begin(&mut self, station: usize, now: u64) {
        if self.ports[station].sending.is_some() || self.ports[station].flying.len() >= IN_FLIGHT {
            return;
        }
        let (packet, attempts) = match self.ports[station].waiting.take() {
            Some(waiting) => waiting,
            None => match self.stations[station].take() {
                Some(packet) => (packet, 0),
                None => {
                    self.ports[station].empty_at = now;
                    return;
                }
            },
        };
        let half = self.line.half == Some(station);
        let bits = (packet.len() as u64).max(SHORTEST) * 8 + FRAME_BYTES * 8;
        let port = &self.ports[station];
        let mut start = port.free_at.max(port.empty_at).max(now.saturating_sub(CATCH_UP_NS));
        if half {
            // Carrier sense: wait for the end of what is coming in, then for the gap; whoever goes on sending is first.
            let gap = self.time(GAP_BITS) + self.roll(2000);
            if let Some(other) = &self.ports[1 - station].sending
                && other.start <= start
                && start < other.end + gap
            {
                start = other.end + gap;
            }
        }
        if start > now {
            let port = &mut self.ports[station];
            port.free_at = port.free_at.max(start);
            port.waiting = Some((packet, attempts));
            return;
        }
        let end = start + self.time(bits);
        let jam = self.time(JAM_BITS);
        let mut sending = Sending { packet, start, end, spoilt: false, attempts };
        if self.line.half.is_some()
            && let Some(other) = &mut self.ports[1 - station].sending
            && other.start < end
            && start < other.end
        {
            // Whatever the half-duplex station hears while it sends is lost to it, and it stops sending.
            other.spoilt = true;
            sending.spoilt = true;
            let stops = start.max(other.start) + jam;
            let stopped = if half { &mut sending } else { other };
            stopped.end = stopped.end.min(stops);
        }
        self.ports[station].sending = Some(sending);
    }

    fn finish(&mut self, station: usize) {
        let Some(sending) = self.ports[station].sending.take() else { return };
        let gap = self.time(GAP_BITS);
        self.ports[station].free_at = sending.end + gap;
        self.ports[station].tally.frames += 1;
        if sending.spoilt {
            self.ports[station].tally.collisions += 1;
            if self.line.half == Some(station) {
                self.collided(station, sending);
            } else {
                self.ports[station].tally.lost += 1;
            }
            return;
        }
        let chance = self.roll(1_000_000) as f64 / 1e6;
        if chance < self.line.loss[station] {
            self.ports[station].tally.lost += 1;
            return;
        }
        self.ports[station].flying.push_back((sending.end + self.line.delay_ns, sending.packet));
    }

    /// The half-duplex station met a collision: back off and try again, unless it came late.
    fn collided(&mut self, station: usize, sending: Sending) {
        let late = sending.end - sending.start > self.time(SLOT_BITS + JAM_BITS);
        let attempts = sending.attempts + 1;
        if late || attempts >= MOST_ATTEMPTS {
            let tally = &mut self.ports[station].tally;
            tally.lost += 1;
            tally.late_collisions += u64::from(late);
            return;
        }
        let slots = self.roll(1 << attempts.min(10));
        let port = &mut self.ports[station];
        port.free_at = sending.end + slots * (SLOT_BITS * 1_000_000_000 / self.line.rate);
        port.waiting = Some((sending.packet, attempts));
    }

    /// Nanoseconds of so many bits.
    fn time(&self, bits: u64) -> u64 {
        bits * 1_000_000_000 / self.line.rate
    }

    /// A number below `below` (xorshift: runs repeat with their seed).
    fn roll(&mut self, below: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % below.max(1)
    }
}
