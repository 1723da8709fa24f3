// SPDX-License-Identifier: BSD-2-Clause
//! What the server is told at its start: ports, periods and the one table of limits.

/// Settings that do not change while the server runs.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// TCP port that search replies and beacons announce: the port really bound.
    pub tcp_port: u16,
    /// Longest time between two beacons, in milliseconds (EPICS_CAS_BEACON_PERIOD, 15 s).
    pub beacon_period_ms: u32,
    /// Limits.
    pub limits: Limits,
}

impl Config {
    /// EPICS's default ports and period with the limits of a desk computer.
    pub const DEFAULT: Config = Config { tcp_port: 5064, beacon_period_ms: 15_000, limits: Limits::HOSTED };
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How much of each thing there may be. Reaching a limit refuses the one request politely; nobody else notices.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Circuits in total.
    pub circuits: u16,
    /// Circuits from one address.
    pub circuits_per_address: u16,
    /// Channels in total; below 2^24.
    pub channels: u32,
    /// Channels on one circuit.
    pub channels_per_circuit: u32,
    /// Subscriptions in total.
    pub monitors: u32,
    /// Subscriptions on one circuit.
    pub monitors_per_circuit: u32,
    /// Put-callbacks in progress on one circuit.
    pub puts_per_circuit: u16,
    /// Largest payload in either direction, in bytes (EPICS_CA_MAX_ARRAY_BYTES).
    pub max_array_bytes: u32,
    /// Size of a circuit's input buffer and of its output buffer, in bytes; also what may be queued for one client.
    /// Either grows for one larger message, and shrinks again.
    pub buffer_bytes: u32,
    /// How many bytes of requests and replies one circuit may move before the next has its turn.
    pub turn_bytes: u32,
    /// Searches answered per second and address; 0: no limit.
    pub searches_per_second: u32,
    /// A circuit on which the client is silent for so long is closed, in milliseconds; 0: never. A client that only
    /// listens to monitors is silent, so this is for sites that know their clients.
    pub idle_ms: u32,
    /// A circuit whose client takes none of what is queued for it for so long is closed, in milliseconds; 0: never.
    pub stuck_ms: u32,
}

impl Limits {
    /// A desk computer.
    pub const HOSTED: Limits = Limits {
        circuits: 1024,
        circuits_per_address: 1024,
        channels: 1_000_000,
        channels_per_circuit: 500_000,
        monitors: 1_000_000,
        monitors_per_circuit: 500_000,
        puts_per_circuit: 1024,
        max_array_bytes: 64 << 20,
        buffer_bytes: 16 << 10,
        turn_bytes: 32 << 10,
        searches_per_second: 0,
        idle_ms: 0,
        stuck_ms: 600_000,
    };

    /// A board with 32 MB or more.
    pub const BOARD: Limits = Limits {
        circuits: 64,
        circuits_per_address: 32,
        channels: 40_000,
        channels_per_circuit: 20_000,
        monitors: 40_000,
        monitors_per_circuit: 20_000,
        puts_per_circuit: 64,
        max_array_bytes: 1 << 20,
        buffer_bytes: 16 << 10,
        turn_bytes: 32 << 10,
        searches_per_second: 0,
        idle_ms: 0,
        stuck_ms: 600_000,
    };
}
