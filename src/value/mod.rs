// SPDX-License-Identifier: BSD-2-Clause
//! What a process variable's value is: the vocabulary that `ca` (wire) and `pv` (records) share.
//!
//! A leaf: native types, texts, alarm, time stamp, limits, and the conversions between them by the rules of EPICS's
//! own server. It knows neither a message nor a record.

mod alarm;
pub mod convert;
mod elements;
mod event;
mod metadata;
mod stamp;
mod text;
mod wire_elements;

pub use alarm::{Alarm, Severity, Status};
pub use elements::{Elements, NativeType};
pub use event::EventMask;
pub use metadata::{IllegalState, Limits, Metadata, States};
pub use stamp::{Stamp, Utc};
pub use text::Text;
pub use wire_elements::WireElements;

/// All that one read of a process variable can answer, borrowed for the length of that read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The current elements; their number is the current length, which may be below the channel's maximum.
    pub elements: Elements<'a>,
    /// Alarm status and severity.
    pub alarm: Alarm,
    /// When the value was set; zero while the clock is not set.
    pub stamp: Stamp,
    /// Units, precision, limits and state names.
    pub metadata: &'a Metadata<'a>,
}
