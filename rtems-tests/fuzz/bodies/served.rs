// SPDX-License-Identifier: BSD-2-Clause
//! The server that the targets attack: one record of each type that a client can reach, and small limits.

use rtems_ioc::ca::{Config, Limits, Server};
use rtems_ioc::net::provider::Served;
use rtems_ioc::pv::status::{Item, StatusSource};
use rtems_ioc::pv::{Database, db};
use rtems_ioc::value::Text;

/// What is served; a test of the package serves the same records to real clients.
const RECORDS: &[u8] = include_bytes!("../../hosted/records.db");

/// Small enough that an input of some kilobytes reaches each of them.
pub const LIMITS: Limits = Limits {
    circuits: 4,
    channels: 60,
    channels_per_circuit: 40,
    monitors: 40,
    monitors_per_circuit: 30,
    max_array_bytes: 100_000,
    buffer_bytes: 4096,
    turn_bytes: 2048,
    ..Limits::HOSTED
};

/// A source that knows nothing: the values come from the records.
pub struct Unknown;

impl StatusSource for Unknown {
    fn number(&self, _item: Item) -> Option<f64> {
        None
    }

    fn text(&self, _item: Item) -> Option<Text> {
        None
    }
}

/// A fresh server over the records.
pub fn server() -> Server<Served<Unknown>> {
    let mut database = Database::new();
    db::load(&mut database, "records.db", RECORDS, &[]).expect("the records are right");
    Server::new(Config { limits: LIMITS, ..Config::DEFAULT }, Served::new(database, Unknown, 8))
}
