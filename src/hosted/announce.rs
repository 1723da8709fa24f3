// SPDX-License-Identifier: BSD-2-Clause
//! Where the servers are, and what to try first.

use std::fmt::{self, Write};

use rtems_ioc::ca::Provider;
use rtems_ioc::os::hosted::console::Output;
use rtems_ioc::os::socket::{Address, Dotted};

use super::serve::Ioc;

/// What was opened, as it is shown.
struct Opened {
    circuits: Vec<Address>,
    searches: Vec<Address>,
    beacons: Vec<Address>,
    variables: u32,
}

/// Says it; a program whose standard output is gone serves all the same.
pub fn print(ioc: &Ioc, name: &str) {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write(ioc, name, &mut text);
    let _ = Output.show(&text);
}

fn write(ioc: &Ioc, name: &str, out: &mut impl Write) -> fmt::Result {
    let opened = ioc.server().with(|server| Opened {
        circuits: server.listening().collect(),
        searches: server.searchable().collect(),
        beacons: server.beacon_targets().collect(),
        variables: server.protocol().provider().capacity(),
    });
    writeln!(
        out,
        "rtems-ioc {}: {} process variables, named {name}:...",
        env!("CARGO_PKG_VERSION"),
        opened.variables
    )?;
    writeln!(out, "  Channel Access on {} (TCP)", list(&opened.circuits))?;
    writeln!(
        out,
        "  name searches on {} (UDP), beacons to {}",
        list(&opened.searches),
        list(&opened.beacons)
    )?;
    let echo: Vec<_> = ioc.echo().service().with(|echo| echo.listening().collect());
    for (kind, at) in &echo {
        writeln!(out, "  {kind} on {at} (TCP)")?;
    }
    let reachable = |ip: u32| if ip == Address::ANY { Address::LOOPBACK } else { ip };
    let search = opened.searches.first().copied().unwrap_or_default();
    writeln!(out, "Try in another terminal:")?;
    write!(out, "  export EPICS_CA_ADDR_LIST={} EPICS_CA_AUTO_ADDR_LIST=NO", Dotted(reachable(search.ip)))?;
    if search.port != rtems_ioc::net::settings::SERVER_PORT {
        write!(out, " EPICS_CA_SERVER_PORT={}", search.port)?;
    }
    writeln!(out, "\n  caget {name}:UPTIME {name}:MEM_FREE\n  catime {name}:catime 1000")?;
    match echo.first() {
        Some((_, at)) => writeln!(out, "  nc {} {}", Dotted(reachable(at.ip)), at.port),
        None => Ok(()),
    }
}

fn list(addresses: &[Address]) -> String {
    let texts: Vec<String> = addresses.iter().map(Address::to_string).collect();
    if texts.is_empty() { "nobody".to_owned() } else { texts.join(", ") }
}
