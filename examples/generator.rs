// SPDX-License-Identifier: BSD-2-Clause
//! An example: an IOC whose process variables come from this program, a wave with an amplitude that clients set.
//!
//!     cargo run --release --example generator
//!     caput generator:amplitude 3 && caget generator:wave

use std::error::Error;
use std::f64::consts::TAU;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rtems_ioc::app::{Answer, PutRequest};
use rtems_ioc::net::provider::Served;
use rtems_ioc::net::server::Server;
use rtems_ioc::net::settings::Settings;
use rtems_ioc::net::status::Status;
use rtems_ioc::os::hosted::Hosted;
use rtems_ioc::os::socket::Address;
use rtems_ioc::pv::Database;
use rtems_ioc::shell::Ioc;
use rtems_ioc::value::Elements;
use rtems_ioc::{ca, tcpecho};

const POINTS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let environment = |name: &str| std::env::var(name).ok();
    let settings = Settings::from_environment(&environment, &|_| None, vec![Address::LOOPBACK])
        .map_err(|error| error.to_string())?;
    let echo = tcpecho::Options {
        interface: Address::LOOPBACK,
        port: tcpecho::DEFAULT_PORT,
        buffer_bytes: 0,
        max_clients: 0,
    };
    let provider = Served::new(Database::new(), Status::new(Hosted), 0);
    let server = Server::new(Hosted, ca::Server::new(ca::Config::DEFAULT, provider), ca::AdmitAll);
    let ioc = Ioc::new(Hosted, server, settings, echo);

    // The handler runs in the server's task: it decides and leaves the value where the program finds it.
    let wanted = Arc::new(AtomicU64::new(1f64.to_bits()));
    let set = Arc::clone(&wanted);
    let decide = move |request: &PutRequest<'_>| match request.value {
        Elements::Double(&[value]) if (0.0..=10.0).contains(&value) => {
            set.store(value.to_bits(), Ordering::Relaxed);
            Answer::Accept
        }
        _ => Answer::Refuse,
    };
    let range = [("EGU", "V"), ("PREC", "2"), ("HOPR", "10"), ("DRVH", "10")];
    let amplitude = ioc.create("ao", "generator:amplitude", &range, Some(Box::new(decide)))?;
    let array = [("FTVL", "DOUBLE"), ("NELM", "100"), ("EGU", "V"), ("PREC", "3")];
    let wave = ioc.create("waveform", "generator:wave", &array, None)?;
    let level = ioc.create("ai", "generator:rms", &[("EGU", "V"), ("HIGH", "5"), ("HSV", "MINOR")], None)?;

    amplitude.set(1.0)?;
    ioc.start_server().map_err(|error| error.to_string())?;
    println!("generator:amplitude, generator:wave and generator:rms are served; end with ^C");
    for step in 0u32.. {
        let amplitude = f64::from_bits(wanted.load(Ordering::Relaxed));
        let point = |n: usize| amplitude * (TAU * (n as f64 / POINTS as f64 + f64::from(step) / 50.0)).sin();
        let points: Vec<f64> = (0..POINTS).map(point).collect();
        wave.set(&points[..])?;
        level.set(amplitude / 2f64.sqrt())?;
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
