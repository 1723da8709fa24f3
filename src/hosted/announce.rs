// SPDX-License-Identifier: BSD-2-Clause
//! Where the servers are, and what to try first.

use rtems_ioc::ca::Provider;
use rtems_ioc::os::socket::{Address, Dotted};

use super::serve::Ioc;

/// What was opened, as it is shown.
struct Opened {
    circuits: Vec<Address>,
    searches: Vec<Address>,
    beacons: Vec<Address>,
    variables: u32,
}

/// Prints it.
pub fn print(ioc: &Ioc, name: &str) {
    let opened = ioc.server().with(|server| Opened {
        circuits: server.listening().collect(),
        searches: server.searchable().collect(),
        beacons: server.beacon_targets().collect(),
        variables: server.protocol().provider().capacity(),
    });
    println!(
        "rtems-ioc {}: {} process variables, named {name}:...",
        env!("CARGO_PKG_VERSION"),
        opened.variables
    );
    println!("  Channel Access on {} (TCP)", list(&opened.circuits));
    println!("  name searches on {} (UDP), beacons to {}", list(&opened.searches), list(&opened.beacons));
    let echo: Vec<_> = ioc.echo().service().with(|echo| echo.listening().collect());
    for (kind, at) in &echo {
        println!("  {kind} on {at} (TCP)");
    }
    let reachable = |ip: u32| if ip == Address::ANY { Address::LOOPBACK } else { ip };
    let search = opened.searches.first().copied().unwrap_or_default();
    println!("Try in another terminal:");
    print!("  export EPICS_CA_ADDR_LIST={} EPICS_CA_AUTO_ADDR_LIST=NO", Dotted(reachable(search.ip)));
    if search.port != rtems_ioc::net::settings::SERVER_PORT {
        print!(" EPICS_CA_SERVER_PORT={}", search.port);
    }
    println!();
    println!("  caget {name}:UPTIME {name}:MEM_FREE");
    println!("  catime {name}:catime 1000");
    if let Some((_, at)) = echo.first() {
        println!("  nc {} {}", Dotted(reachable(at.ip)), at.port);
    }
}

fn list(addresses: &[Address]) -> String {
    let texts: Vec<String> = addresses.iter().map(Address::to_string).collect();
    if texts.is_empty() { "nobody".to_owned() } else { texts.join(", ") }
}
