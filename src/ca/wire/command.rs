// SPDX-License-Identifier: BSD-2-Clause
//! Command codes (`CA_PROTO_*`) that a server sends or understands.

/// Protocol version; first message in both directions.
pub const VERSION: u16 = 0;
/// Subscribe; also every update.
pub const EVENT_ADD: u16 = 1;
/// Cancel a subscription.
pub const EVENT_CANCEL: u16 = 2;
/// Read without status (clients before V4.1, still accepted).
pub const READ: u16 = 3;
/// Write without reply.
pub const WRITE: u16 = 4;
/// Name search.
pub const SEARCH: u16 = 6;
/// Flow control: send no updates.
pub const EVENTS_OFF: u16 = 8;
/// Flow control: send updates again.
pub const EVENTS_ON: u16 = 9;
/// Echo of clients before V4.3.
pub const READ_SYNC: u16 = 10;
/// Something went wrong with the request that is quoted.
pub const ERROR: u16 = 11;
/// Delete a channel.
pub const CLEAR_CHANNEL: u16 = 12;
/// Beacon.
pub const RSRV_IS_UP: u16 = 13;
/// Name not found, over TCP only.
pub const NOT_FOUND: u16 = 14;
/// Read with status.
pub const READ_NOTIFY: u16 = 15;
/// Create a channel.
pub const CREATE_CHAN: u16 = 18;
/// Write, and reply when processing has ended.
pub const WRITE_NOTIFY: u16 = 19;
/// User name of the client.
pub const CLIENT_NAME: u16 = 20;
/// Host name of the client.
pub const HOST_NAME: u16 = 21;
/// What the client may do with a channel.
pub const ACCESS_RIGHTS: u16 = 22;
/// Are you there?
pub const ECHO: u16 = 23;
/// The channel could not be created.
pub const CREATE_CH_FAIL: u16 = 26;
/// The server has deleted the process variable.
pub const SERVER_DISCONN: u16 = 27;

/// SEARCH data type: the client wants to hear of a failure (over TCP).
pub const DO_REPLY: u16 = 10;

/// SEARCH reply: use the address that the reply comes from.
pub const SENDER_ADDRESS: u32 = 0xffff_ffff;

/// VERSION data type in a datagram: the sequence number in parameter 1 is valid.
pub const SEQUENCE_VALID: u16 = 1;
