// SPDX-License-Identifier: BSD-2-Clause
//! `casr`: who is connected, with what, and how the server fares.
//!
//! Level 0 is one line; 1 adds a line per client; 2 its traffic and the server's counters; 3 its channels; 4 memory
//! and limits.

use super::channels::{Channel, Channels};
use super::circuits::{Circuit, Circuits};
use super::monitors::Monitors;
use super::provider::Provider;
use super::server::Server;
use super::slab::NONE;
use super::wire::MINOR;
use core::fmt::{Result, Write};

/// Entries of one look: other clients wait meanwhile.
const ENTRIES_PER_LOOK: usize = 64;

/// Where a report goes on; the default is its start.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReportPosition(Part);

#[derive(Clone, Copy, Debug, Default)]
enum Part {
    #[default]
    Summary,
    /// The circuit in this slot, or in the next one that has one.
    Circuit(u16),
    /// A channel of it.
    Channel(u16, u32),
    Counters,
    End,
}

impl<P: Provider> Server<P> {
    /// Writes the next lines of a report of level 0 to 4 and returns whether there are more. `now` is the time in
    /// milliseconds that the other calls get.
    pub fn report(
        &self,
        level: u8,
        position: &mut ReportPosition,
        out: &mut dyn Write,
        now: u64,
    ) -> core::result::Result<bool, core::fmt::Error> {
        for _ in 0..ENTRIES_PER_LOOK {
            position.0 = match position.0 {
                Part::Summary => {
                    self.report_summary(out)?;
                    if level >= 1 { Part::Circuit(0) } else { Part::End }
                }
                Part::Circuit(slot) if slot >= self.circuits.slots() => Part::Counters,
                Part::Circuit(slot) => match self.circuits.at(slot) {
                    None => Part::Circuit(slot + 1),
                    Some(circuit) => {
                        self.report_circuit(level, circuit, out, now)?;
                        if level >= 3 {
                            Part::Channel(slot, circuit.session.first_channel)
                        } else {
                            Part::Circuit(slot + 1)
                        }
                    }
                },
                Part::Channel(slot, NONE) => Part::Circuit(slot + 1),
                Part::Channel(slot, index) => match self.channels.at(index) {
                    Some(channel) if channel.circuit == slot => {
                        self.report_channel(channel, out)?;
                        Part::Channel(slot, self.channels.after(index))
                    }
                    // Cleared since the last look.
                    _ => {
                        out.write_str("    ... (changed meanwhile)\n")?;
                        Part::Circuit(slot + 1)
                    }
                },
                Part::Counters => {
                    if level >= 2 {
                        self.report_counters(out)?;
                    }
                    if level >= 4 {
                        self.report_memory(out)?;
                    }
                    Part::End
                }
                Part::End => return Ok(false),
            };
        }
        Ok(true)
    }

    fn report_summary(&self, out: &mut dyn Write) -> Result {
        let s = self.statistics();
        writeln!(
            out,
            "Channel Access server V4.{MINOR}, TCP port {}{}: {} circuits, {} channels, {} monitors",
            self.config.tcp_port,
            if self.is_paused() { ", paused" } else { "" },
            s.circuits,
            s.channels,
            s.monitors
        )
    }

    fn report_circuit(&self, level: u8, circuit: &Circuit, out: &mut dyn Write, now: u64) -> Result {
        let session = &circuit.session;
        write!(
            out,
            "{}: user \"{}\", host \"{}\", ",
            session.peer,
            session.user.escape_ascii(),
            session.host.escape_ascii()
        )?;
        match session.minor {
            Some(minor) => write!(out, "V4.{minor}, ")?,
            None => out.write_str("version unknown, ")?,
        }
        writeln!(
            out,
            "priority {}, {} channels, {} monitors",
            session.priority, session.channels, session.monitors
        )?;
        if level >= 2 {
            let unsent = circuit.output.used();
            let age = if unsent > 0 { now.saturating_sub(session.progress_ms) / 1000 } else { 0 };
            writeln!(
                out,
                "  {} s, {} requests, {} bytes in, {} out, {unsent} not taken for {age} s, {} stalls, {} updates owed{}, {} puts in progress",
                now.saturating_sub(session.opened_ms) / 1000,
                session.requests,
                session.bytes_received,
                session.bytes_sent,
                session.stalls,
                session.pending,
                if session.events_off { " (events off)" } else { "" },
                session.puts,
            )?;
        }
        if level >= 4 {
            writeln!(
                out,
                "  buffers: {} bytes in, {} bytes out",
                circuit.input.capacity(),
                circuit.output.capacity()
            )?;
        }
        Ok(())
    }

    fn report_channel(&self, channel: &Channel, out: &mut dyn Write) -> Result {
        out.write_str("    ")?;
        self.provider.write_name(channel.pv, out)?;
        let mut monitors = 0u32;
        let mut at = channel.monitors;
        while at != NONE {
            monitors += 1;
            at = self.monitors.after_in_channel(at);
            if at == channel.monitors {
                break;
            }
        }
        writeln!(
            out,
            " {:?}[{}] {}{} cid {}, {monitors} monitors",
            channel.native,
            channel.max_count,
            if channel.access.read { "r" } else { "-" },
            if channel.access.write { "w" } else { "-" },
            channel.cid
        )
    }

    fn report_counters(&self, out: &mut dyn Write) -> Result {
        let s = self.statistics();
        writeln!(
            out,
            "searches: {}, answered {}, refused {}; datagrams ignored {}",
            s.searches, s.searches_answered, s.searches_refused, s.datagrams_ignored
        )?;
        writeln!(
            out,
            "circuits: accepted {}, refused {}, closed as damaged {}, idle {}, stuck {}",
            s.circuits_accepted, s.circuits_refused, s.damaged, s.idle_closed, s.stuck_closed
        )?;
        writeln!(
            out,
            "requests: {}, reads {}, writes {}, errors {}, too large {}, stalls {}, puts in progress {}",
            s.requests, s.reads, s.writes, s.errors, s.too_large, s.stalls, s.puts_in_progress
        )?;
        writeln!(
            out,
            "updates: sent {}, replaced by newer ones {}; refused: channels {}, monitors {}",
            s.updates, s.updates_replaced, s.channels_refused, s.monitors_refused
        )?;
        writeln!(
            out,
            "bytes: in {}, out {}; log lines left out {}",
            s.bytes_received, s.bytes_sent, self.notes.suppressed
        )
    }

    fn report_memory(&self, out: &mut dyn Write) -> Result {
        let limits = &self.config.limits;
        writeln!(
            out,
            "memory: {} bytes for channels ({} each), {} for monitors ({} each), {} per circuit",
            self.channels.heap_bytes(),
            Channels::entry_size(),
            self.monitors.heap_bytes(),
            Monitors::entry_size(),
            Circuits::cost(limits.buffer_bytes as usize)
        )?;
        writeln!(
            out,
            "limits: {} circuits ({} per address), {} channels ({} per circuit), {} monitors ({} per circuit)",
            limits.circuits,
            limits.circuits_per_address,
            limits.channels,
            limits.channels_per_circuit,
            limits.monitors,
            limits.monitors_per_circuit
        )?;
        writeln!(
            out,
            "limits: {} bytes queued, arrays {} bytes, {} puts in progress per circuit, {} searches/s per address, idle {} ms, stuck {} ms (0: none)",
            limits.buffer_bytes,
            limits.max_array_bytes,
            limits.puts_per_circuit,
            limits.searches_per_second,
            limits.idle_ms,
            limits.stuck_ms
        )
    }
}
