// SPDX-License-Identifier: BSD-2-Clause
//! Every variable, right and wrong.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;

use super::*;

fn read(variables: &[(&str, &str)]) -> Result<Settings, SettingError> {
    let get = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
    let resolve = |name: &str| (name == "gateway").then_some(0x0a00_0001);
    Settings::from_environment(&get, &resolve, vec![Address::LOOPBACK])
}

#[test]
fn an_empty_environment_gives_the_defaults() {
    assert_eq!(read(&[]).unwrap(), Settings::on(vec![Address::LOOPBACK]));
    assert_eq!(
        read(&[("EPICS_CAS_SERVER_PORT", ""), ("EPICS_CAS_INTF_ADDR_LIST", "  ")]).unwrap().port,
        5064
    );
}

#[test]
fn the_servers_own_port_comes_before_that_of_all() {
    assert_eq!(read(&[("EPICS_CA_SERVER_PORT", "6064")]).unwrap().port, 6064);
    let both = read(&[("EPICS_CA_SERVER_PORT", "6064"), ("EPICS_CAS_SERVER_PORT", " 7064 ")]).unwrap();
    assert_eq!(both.port, 7064);
    assert_eq!(read(&[("EPICS_CA_REPEATER_PORT", "6065")]).unwrap().beacon_port, 6065);
    assert_eq!(
        read(&[("EPICS_CA_REPEATER_PORT", "6065"), ("EPICS_CAS_BEACON_PORT", "7065")]).unwrap().beacon_port,
        7065
    );
}

#[test]
fn a_bad_value_names_variable_value_and_remedy() {
    let text = |name, value| read(&[(name, value)]).unwrap_err().to_string();
    assert_eq!(
        text("EPICS_CAS_SERVER_PORT", "70000"),
        "EPICS_CAS_SERVER_PORT: \"70000\": give a port from 5001 to 65535 (EPICS clients take no others)"
    );
    assert!(text("EPICS_CA_SERVER_PORT", "5000").contains("5001"));
    assert!(text("EPICS_CAS_AUTO_BEACON_ADDR_LIST", "maybe").ends_with("give YES or NO"));
    assert!(text("EPICS_CAS_BEACON_PERIOD", "0").contains("3600"));
    assert!(text("EPICS_CA_BEACON_PERIOD", "nan").contains("3600"));
    assert!(text("EPICS_CAS_BEACON_ADDR_LIST", "10.0.0.1 nowhere").contains("\"nowhere\""));
    assert!(text("EPICS_CAS_IGNORE_ADDR_LIST", "10.0.0.256").contains("10.0.0.256"));
    assert!(text("EPICS_CAS_BEACON_ADDR_LIST", "10.0.0.1:x").contains("10.0.0.1:x"));
    assert!(text("EPICS_CA_MCAST_TTL", "0").contains("255"));
    assert!(text("EPICS_CA_MAX_ARRAY_BYTES", "10").contains("16384"));
    assert!(text("EPICS_CAS_INTF_ADDR_LIST", "0.0.0.0 10.0.0.1").contains("alone"));
}

#[test]
fn interfaces_and_multicast_groups_are_told_apart() {
    let settings = read(&[("EPICS_CAS_INTF_ADDR_LIST", "10.0.0.2 239.1.2.3\t127.0.0.1 10.0.0.2")]).unwrap();
    assert_eq!(settings.interfaces, [0x0a00_0002, Address::LOOPBACK]);
    assert_eq!(settings.groups, [0xef01_0203]);
    assert!(read(&[("EPICS_CAS_INTF_ADDR_LIST", "0.0.0.0")]).unwrap().interfaces.is_empty());
    // As in EPICS: with a group alone every interface is served, the default of this program or not.
    let group = read(&[("EPICS_CAS_INTF_ADDR_LIST", "239.1.2.3")]).unwrap();
    assert_eq!((&group.interfaces[..], &group.groups[..]), (&[][..], &[0xef01_0203][..]));
}

#[test]
fn beacon_addresses_take_their_own_port_or_the_common_one() {
    let settings = read(&[
        ("EPICS_CAS_BEACON_ADDR_LIST", "10.0.0.255 gateway:7000"),
        ("EPICS_CAS_AUTO_BEACON_ADDR_LIST", "No"),
        ("EPICS_CAS_BEACON_PORT", "6065"),
        ("EPICS_CAS_BEACON_PERIOD", "5.5"),
    ])
    .unwrap();
    assert_eq!(settings.beacons, [Address::new(0x0a00_00ff, 6065), Address::new(0x0a00_0001, 7000)]);
    assert!(!settings.auto_beacons);
    assert_eq!(settings.beacon_period_ms, 5500);
}

#[test]
fn the_array_limit_counts_only_when_it_is_not_automatic() {
    assert_eq!(read(&[("EPICS_CA_MAX_ARRAY_BYTES", "100000")]).unwrap().max_array_bytes, None);
    let fixed = read(&[("EPICS_CA_MAX_ARRAY_BYTES", "100000"), ("EPICS_CA_AUTO_ARRAY_BYTES", "NO")]).unwrap();
    assert_eq!(fixed.max_array_bytes, Some(100_000));
}
