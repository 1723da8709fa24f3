// SPDX-License-Identifier: BSD-2-Clause
//! Which sockets to open and where beacons go, worked out from the settings and the interfaces there are.
//!
//! A UDP socket bound to one address receives no broadcasts (a rule of all BSD stacks), so an interface served by its
//! address gets a second socket bound to its broadcast address; likewise each multicast group. What comes in by such a
//! socket is answered from the interface's own, since a reply must not come from a broadcast address.

use alloc::vec::Vec;

use super::settings::Settings;
use crate::os::Interface;
use crate::os::socket::Address;

/// A UDP socket to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Address to bind to; [`Address::ANY`] for all.
    pub bind: u32,
    /// Index of the endpoint from which to answer: itself, or the unicast one of the same interface.
    pub reply_from: usize,
}

/// A multicast group to join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Index of the endpoint that joins.
    pub endpoint: usize,
    /// The group.
    pub group: u32,
    /// On the interface with this address.
    pub interface: u32,
}

/// Where a beacon goes, and from which endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BeaconTarget {
    /// Destination.
    pub to: Address,
    /// Index of the endpoint to send it from.
    pub from: usize,
}

/// Everything to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// UDP sockets.
    pub endpoints: Vec<Endpoint>,
    /// Multicast groups of those sockets.
    pub memberships: Vec<Membership>,
    /// Addresses on which to listen for TCP, all on one port.
    pub listeners: Vec<u32>,
    /// Destinations of beacons, each once.
    pub beacons: Vec<BeaconTarget>,
}

impl Plan {
    /// Works it out. `present` are the interfaces that are up.
    pub fn new(settings: &Settings, present: &[Interface]) -> Plan {
        let mut plan = Plan::default();
        if settings.interfaces.is_empty() {
            plan.endpoint(Address::ANY, 0);
            plan.listeners.push(Address::ANY);
            if settings.auto_beacons {
                for interface in present {
                    plan.automatic_beacon(settings, interface, 0);
                }
            }
        }
        for &address in &settings.interfaces {
            let unicast = plan.endpoints.len();
            plan.endpoint(address, unicast);
            plan.listeners.push(address);
            let Some(interface) = present.iter().find(|interface| interface.address == address) else {
                continue;
            };
            if let Some(broadcast) = interface.broadcast.filter(|&broadcast| broadcast != address) {
                plan.endpoint(broadcast, unicast);
            }
            if settings.auto_beacons {
                plan.automatic_beacon(settings, interface, unicast);
            }
        }
        for &group in &settings.groups {
            plan.join(settings, group);
        }
        for &to in &settings.beacons {
            let from = plan.sender_towards(to.ip, present);
            plan.beacon(to, from);
        }
        plan
    }

    fn endpoint(&mut self, bind: u32, reply_from: usize) {
        self.endpoints.push(Endpoint { bind, reply_from });
    }

    /// A socket for all interfaces hears a group once it has joined; one bound to an address does not, so the group
    /// gets a socket of its own. That one answers from the first interface.
    fn join(&mut self, settings: &Settings, group: u32) {
        if settings.interfaces.is_empty() {
            self.memberships.push(Membership { endpoint: 0, group, interface: Address::ANY });
            return;
        }
        let endpoint = self.endpoints.len();
        self.endpoint(group, 0);
        self.memberships.extend(settings.interfaces.iter().map(|&interface| Membership {
            endpoint,
            group,
            interface,
        }));
    }

    /// The broadcast address of an interface; itself for the loopback, where nobody else could hear it.
    fn automatic_beacon(&mut self, settings: &Settings, interface: &Interface, from: usize) {
        let ip = match interface.broadcast {
            Some(broadcast) if !interface.loopback => broadcast,
            _ if interface.loopback => interface.address,
            _ => return,
        };
        self.beacon(Address::new(ip, settings.beacon_port), from);
    }

    /// One beacon per destination and period: clients take a second one for an anomaly.
    fn beacon(&mut self, to: Address, from: usize) {
        if !self.beacons.iter().any(|target| target.to == to) {
            self.beacons.push(BeaconTarget { to, from });
        }
    }

    /// The endpoint whose interface is the destination itself or has it as broadcast address; else the first that is
    /// not the loopback, since from there nothing leaves the host.
    fn sender_towards(&self, ip: u32, present: &[Interface]) -> usize {
        let is_loopback = |address: u32| address >> 24 == 127;
        let near = |endpoint: &Endpoint| {
            endpoint.bind == ip
                || present.iter().any(|i| i.address == endpoint.bind && i.broadcast == Some(ip))
                || (is_loopback(ip) && is_loopback(endpoint.bind))
        };
        let found = self
            .endpoints
            .iter()
            .position(near)
            .or_else(|| self.endpoints.iter().position(|endpoint| !is_loopback(endpoint.bind)));
        found.map_or(0, |index| self.endpoints[index].reply_from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const LO: Interface = Interface { address: Address::LOOPBACK, broadcast: None, loopback: true };
    const ETH: Interface = Interface { address: 0x0a00_0002, broadcast: Some(0x0a00_00ff), loopback: false };

    fn targets(plan: &Plan) -> Vec<(u32, usize)> {
        plan.beacons.iter().map(|target| (target.to.ip, target.from)).collect()
    }

    #[test]
    fn all_interfaces_need_one_socket_and_beacon_everywhere() {
        let plan = Plan::new(&Settings::on(vec![]), &[LO, ETH]);
        assert_eq!(plan.endpoints, [Endpoint { bind: 0, reply_from: 0 }]);
        assert_eq!(plan.listeners, [0]);
        assert_eq!(targets(&plan), [(Address::LOOPBACK, 0), (0x0a00_00ff, 0)]);
    }

    #[test]
    fn an_interface_by_address_hears_broadcasts_on_a_second_socket() {
        let plan = Plan::new(&Settings::on(vec![Address::LOOPBACK, ETH.address]), &[LO, ETH]);
        assert_eq!(
            plan.endpoints,
            [
                Endpoint { bind: Address::LOOPBACK, reply_from: 0 },
                Endpoint { bind: ETH.address, reply_from: 1 },
                Endpoint { bind: 0x0a00_00ff, reply_from: 1 },
            ]
        );
        assert_eq!(plan.listeners, [Address::LOOPBACK, ETH.address]);
        assert_eq!(targets(&plan), [(Address::LOOPBACK, 0), (0x0a00_00ff, 1)]);
    }

    #[test]
    fn beacons_by_name_go_once_and_from_the_interface_that_reaches_them() {
        let mut settings = Settings::on(vec![Address::LOOPBACK, ETH.address]);
        settings.auto_beacons = false;
        settings.beacons = vec![
            Address::new(0x0a00_00ff, 5065),
            Address::new(Address::LOOPBACK, 5065),
            Address::new(0xc0a8_0001, 5065),
            Address::new(Address::LOOPBACK, 5065),
        ];
        let plan = Plan::new(&settings, &[LO, ETH]);
        assert_eq!(targets(&plan), [(0x0a00_00ff, 1), (Address::LOOPBACK, 0), (0xc0a8_0001, 1)]);
    }

    #[test]
    fn a_multicast_group_is_joined_where_it_is_heard() {
        let mut settings = Settings::on(vec![]);
        settings.groups = vec![0xef01_0203];
        let joined = Membership { endpoint: 0, group: 0xef01_0203, interface: 0 };
        assert_eq!(Plan::new(&settings, &[LO]).memberships, [joined]);
        settings.interfaces = vec![ETH.address];
        let plan = Plan::new(&settings, &[LO, ETH]);
        assert_eq!(plan.endpoints[2], Endpoint { bind: 0xef01_0203, reply_from: 0 });
        assert_eq!(plan.memberships, [Membership { endpoint: 2, interface: ETH.address, ..joined }]);
    }
}
