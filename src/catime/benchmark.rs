// SPDX-License-Identifier: BSD-2-Clause
//! The tests in the original's order, with its numbers of operations and its reckoning of bytes.

use super::client::Client;
use super::error::ClientError;
use super::names::{NameBuffer, Names};
use super::network::Network;
use super::payloads::{DataType, Payloads};
use super::{Arguments, Event, Operation, Outcome, Row, Spread};
use crate::ca::wire::{Header, padded};
use core::fmt;

/// Repetitions of each put and get in the asynchronous tests.
const INLINE: u32 = 10;
/// Turns of the test without traffic.
const TURNS: u32 = 500;
/// How long a synchronous reply may take, nanoseconds.
const REPLY_NS: u64 = 100_000_000_000;
const HEADER: u64 = Header::STANDARD as u64;

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Abort {
    /// The client cannot go on.
    Client(ClientError),
    /// The report could not be written.
    Report,
}

impl From<ClientError> for Abort {
    fn from(error: ClientError) -> Abort {
        Abort::Client(error)
    }
}

impl From<fmt::Error> for Abort {
    fn from(_: fmt::Error) -> Abort {
        Abort::Report
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abort::Client(error) => error.fmt(f),
            Abort::Report => f.write_str("the report could not be written"),
        }
    }
}

/// Where the events go.
type Sink<'a> = &'a mut dyn FnMut(&Event<'_>) -> fmt::Result;

/// Runs all tests and reports each as it ends. Without `search_timeout_ns` it waits for the channels for ever.
pub fn run<N: Network>(
    network: N,
    arguments: &Arguments<'_>,
    search_timeout_ns: Option<u64>,
    report: Sink<'_>,
) -> Result<Outcome, Abort> {
    let Arguments { name, channels, append } = *arguments;
    let names = Names::new(name, append);
    let mut bench = Bench {
        client: Client::new(network, names, channels)?,
        payloads: Payloads::default(),
        channels,
        outcome: Outcome::default(),
        report,
    };
    (bench.report)(&Event::Begin(channels, name, append))?;
    bench.connect(&names, search_timeout_ns)?;
    bench.pend()?;
    for data_type in [DataType::Float, DataType::Double, DataType::String, DataType::Int] {
        bench.transfer(data_type)?;
    }
    bench.latency()?;
    bench.free()?;
    Ok(bench.outcome)
}

struct Bench<'a, N: Network> {
    client: Client<'a, N>,
    payloads: Payloads,
    channels: u32,
    outcome: Outcome,
    report: Sink<'a>,
}

impl<N: Network> Bench<'_, N> {
    /// Times `work` and reports the row.
    fn time(
        &mut self,
        mut row: Row,
        work: impl FnOnce(&mut Client<'_, N>, &Payloads) -> Result<(), ClientError>,
    ) -> Result<(), Abort> {
        let start = self.client.now_ns();
        work(&mut self.client, &self.payloads)?;
        row.ns = self.client.now_ns().saturating_sub(start);
        (self.report)(&Event::Row(row))?;
        self.report_errors()
    }

    /// Reports what the server complained of since the last time.
    fn report_errors(&mut self) -> Result<(), Abort> {
        let (errors, last) = self.client.errors();
        if errors > 0 {
            self.outcome.errors += errors;
            (self.report)(&Event::Errors(errors, last))?;
        }
        Ok(())
    }

    fn connect(&mut self, names: &Names<'_>, timeout_ns: Option<u64>) -> Result<(), Abort> {
        (self.report)(&Event::Connecting)?;
        let bytes = |channel| 2 * (padded(names.len(channel)) as u64 + HEADER);
        let row = Row {
            operation: Operation::Connect,
            data_type: None,
            operations: u64::from(self.channels),
            ns: 0,
            sent: (0..self.channels).map(bytes).sum(),
            received: u64::from(self.channels) * 2 * HEADER,
        };
        self.time(row, |client, _| client.connect(timeout_ns))?;
        let mut tries = Spread::default();
        for channel in 0..self.channels {
            tries.add(f64::from(self.client.tries(channel)));
        }
        (self.report)(&Event::Connected(&tries))?;
        let mut buffer = NameBuffer::default();
        (self.report)(&Event::Channel(names.get(0, &mut buffer), self.client.values(0)))?;
        Ok(())
    }

    fn pend(&mut self) -> Result<(), Abort> {
        (self.report)(&Event::Pending)?;
        let row = Row {
            operation: Operation::Pend,
            data_type: None,
            operations: u64::from(TURNS),
            ns: 0,
            sent: 0,
            received: 0,
        };
        self.time(row, |client, _| (0..TURNS).try_for_each(|_| client.idle_turn()))
    }

    /// Put, get and synchronous get with one type.
    fn transfer(&mut self, data_type: DataType) -> Result<(), Abort> {
        self.payloads.prepare(data_type, self.channels).map_err(|_| ClientError::NoMemory)?;
        (self.report)(&Event::Typed(data_type))?;
        let payload = data_type.payload(self.client.values(0).count);
        let channels = iterations(self.channels, payload);
        let payload = payload as u64;
        let row = |operation, operations: u32, sent, received| Row {
            operation,
            data_type: Some(data_type),
            operations: u64::from(operations),
            ns: 0,
            sent: u64::from(operations) * sent,
            received: u64::from(operations) * received,
        };

        (self.report)(&Event::Test(Operation::Put))?;
        self.time(row(Operation::Put, channels * INLINE, HEADER + payload, 0), |client, payloads| {
            for channel in 0..channels {
                for _ in 0..INLINE {
                    client.put(channel, payloads, data_type)?;
                }
            }
            // The puts have arrived when a get behind them is answered.
            client.get(0, DataType::Int, 1)?;
            client.wait_for_replies(Some(REPLY_NS))?;
            client.put(0, payloads, data_type)?;
            client.flush()
        })?;

        (self.report)(&Event::Test(Operation::Get))?;
        self.time(row(Operation::Get, channels * INLINE, HEADER, HEADER + payload), |client, _| {
            for channel in 0..channels {
                let count = client.values(channel).count;
                for _ in 0..INLINE {
                    client.get(channel, data_type, count)?;
                }
            }
            client.wait_for_replies(None)
        })?;

        let channels = match channels {
            101.. => channels / 100,
            11.. => channels / 10,
            few => few,
        };
        (self.report)(&Event::Test(Operation::SyncGet))?;
        self.time(row(Operation::SyncGet, channels, HEADER, HEADER + payload), |client, _| {
            for channel in 0..channels {
                client.get(channel, data_type, client.values(channel).count)?;
                client.wait_for_replies(Some(REPLY_NS))?;
            }
            Ok(())
        })
    }

    fn latency(&mut self) -> Result<(), Abort> {
        (self.report)(&Event::Latencies)?;
        let mut seconds = Spread::default();
        for channel in 0..self.channels {
            let start = self.client.now_ns();
            self.client.get(channel, DataType::Double, self.client.values(channel).count)?;
            self.client.wait_for_replies(Some(REPLY_NS))?;
            seconds.add(self.client.now_ns().saturating_sub(start) as f64 / 1e9);
        }
        (self.report)(&Event::Latency(&seconds))?;
        self.report_errors()
    }

    fn free(&mut self) -> Result<(), Abort> {
        (self.report)(&Event::Freeing)?;
        let row = Row {
            operation: Operation::Free,
            data_type: None,
            operations: u64::from(self.channels),
            ns: 0,
            sent: 0,
            received: 0,
        };
        let channels = self.channels;
        self.time(row, |client, _| {
            for channel in 0..channels {
                client.clear(channel)?;
            }
            client.flush()
        })
    }
}

/// Channels used in the tests of a type: fewer where each carries more, so that a test lasts about as long.
fn iterations(channels: u32, payload: usize) -> u32 {
    let mut factor = u32::try_from(payload / DataType::Double.size()).unwrap_or(u32::MAX);
    if factor <= 1 {
        return channels;
    }
    while factor > 0 {
        if channels > factor.saturating_mul(10) {
            return channels / factor;
        }
        factor /= 2;
    }
    channels
}

#[cfg(test)]
mod tests {
    use super::iterations;

    #[test]
    fn larger_payloads_take_fewer_channels() {
        assert_eq!(iterations(10_000, 8), 10_000);
        assert_eq!(iterations(10_000, 40), 2_000);
        assert_eq!(iterations(1_000, 40), 200);
        assert_eq!(iterations(10_000, 8_000), 20);
        assert_eq!(iterations(10, 40), 10);
        assert_eq!(iterations(5, usize::MAX), 5);
    }
}
