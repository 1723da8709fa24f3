// SPDX-License-Identifier: BSD-2-Clause
//! The variables of a board's firmware, under the names that EPICS gives them on these boards.
//!
//! MOTLoad keeps "global environment variables" in NVRAM, `name=value` with a NUL behind each; they are read as they lie
//! there. On some boards RTEMS 6 reads the NVRAM itself, MOTLoad's or PPCBug's, and leaves what it finds in the environment
//! (`RTEMS_NET_...`); those names are looked at, too. Nothing in an NVRAM is believed without a look: an address has to be
//! one that a board can have.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use core::net::Ipv4Addr;

/// The firmware of one board.
#[derive(Clone, Copy, Debug)]
pub struct Firmware<'a> {
    /// MOTLoad's variables as they lie in NVRAM; empty where there are none.
    pub variables: &'a [u8],
    /// The port whose addresses count, in MOTLoad's words: `/dev/enet0`.
    pub port: &'a str,
    /// Whether the BSP leaves the firmware's settings in the environment.
    pub from_environment: bool,
}

impl Firmware<'_> {
    /// A setting, if the firmware has it.
    pub fn setting(&self, name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let own = self.variables_say(name);
        own.map(ToOwned::to_owned).or_else(|| self.environment_says(name, environment))
    }

    fn variables_say(&self, name: &str) -> Option<&str> {
        let own = |name: &str| variable(self.variables, name);
        let of_port = |suffix: &str, option: char, usable: fn(&str) -> bool| {
            let named = own(&format!("mot-{}-{suffix}", self.port)).filter(|value| usable(value));
            let script = || boot_option(own("mot-script-boot")?, self.port, option);
            named.or_else(|| script().filter(|value| usable(value)))
        };
        let exact = || own(&format!("rtems-ioc-{name}"));
        exact().or_else(|| match name {
            "ip" => of_port("cipa", 'c', is_host),
            "mask" => of_port("snma", 'm', is_mask),
            "gateway" => of_port("gipa", 'g', is_host),
            // As EPICS has it: whoever serves the image may know the time.
            "ntp" => own("epics-ntpserver")
                .filter(|value| is_host(value))
                .or_else(|| of_port("sipa", 's', is_host)),
            "name" => own("rtems-client-name"),
            _ => name.starts_with("EPICS_").then(|| own(name)).flatten(),
        })
    }

    fn environment_says(&self, name: &str, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        if !self.from_environment {
            return None;
        }
        let (variable, usable): (_, fn(&str) -> bool) = match name {
            "ip" => ("RTEMS_NET_IF_1_IP_ADDR", is_host),
            "mask" => ("RTEMS_NET_IF_1_NETMASK", is_mask),
            "gateway" => ("RTEMS_NET_GATEWAY_IP", is_host),
            "ntp" => ("RTEMS_NET_NTP_IP", is_host),
            // PPCBug has no name to give, and RTEMS puts the address there.
            "name" => ("RTEMS_NET_HOSTNAME", |value| value.parse::<Ipv4Addr>().is_err()),
            _ => return None,
        };
        environment(variable).filter(|value| usable(value))
    }
}

/// The value of a variable in an area of `name=value`, each ended by a NUL, and all by an empty one.
pub fn variable<'a>(area: &'a [u8], name: &str) -> Option<&'a str> {
    let entries = area.split(|&byte| byte == 0).take_while(|entry| !entry.is_empty());
    let mut values = entries.filter_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
    core::str::from_utf8(values.next()?).ok().filter(|value| !value.is_empty())
}

/// The value of an option of `tftpGet` in MOTLoad's boot script, where that loads over this port.
fn boot_option<'a>(script: &'a str, port: &str, option: char) -> Option<&'a str> {
    let line = script.split(['\n', '\r', ';']).find(|line| line.contains("tftpGet"))?;
    let value =
        |option: char| line.split_whitespace().find_map(|word| word.strip_prefix('-')?.strip_prefix(option));
    match value('d') {
        Some(device) if device != port => None,
        _ => value(option),
    }
}

/// An address that a host can have.
fn is_host(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok_and(|address| {
        !(address.is_unspecified()
            || address.is_loopback()
            || address.is_broadcast()
            || address.is_multicast())
    })
}

/// A mask: ones, then zeros, some of each.
fn is_mask(text: &str) -> bool {
    text.parse::<Ipv4Addr>()
        .map(u32::from)
        .is_ok_and(|mask| mask != 0 && mask.leading_ones() == mask.count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: &dyn Fn(&str) -> Option<String> = &|_| None;

    fn says(variables: &[u8], name: &str) -> Option<String> {
        Firmware { variables, port: "/dev/enet0", from_environment: false }.setting(name, NOTHING)
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let area = b"a=1\0ab=22\0name=x=y\0empty=\0\0after=the end\0";
        let get = |name| variable(area, name);
        assert_eq!((get("a"), get("ab"), get("name")), (Some("1"), Some("22"), Some("x=y")));
        for none in ["b", "empty", "after", "nam", "a=1", ""] {
            assert_eq!(get(none), None, "{none}");
        }
        assert_eq!(variable(&[0xff; 100], "a"), None, "erased");
        assert_eq!(variable(b"", "a"), None);
        assert_eq!(variable(b"a=not ended", "a"), Some("not ended"));
        assert_eq!(variable(b"a=\xff\xfe\0", "a"), None, "no text");
    }

    #[test]
    fn motload_gives_addresses_by_port_or_in_its_boot_script() {
        let named = b"mot-/dev/enet0-cipa=10.0.0.9\0mot-/dev/enet0-snma=255.255.0.0\0mot-/dev/enet0-gipa=10.0.0.1\0\
            rtems-client-name=crate5\0epics-ntpserver=10.0.0.3\0EPICS_CAS_INTF_ADDR_LIST=10.0.0.9\0rtems-ioc-ip=10.0.0.7\0\0";
        assert_eq!(says(named, "ip").as_deref(), Some("10.0.0.7"), "our own name comes first");
        assert_eq!(says(&named[..28], "ip").as_deref(), Some("10.0.0.9"));
        assert_eq!(says(named, "mask").as_deref(), Some("255.255.0.0"));
        assert_eq!(says(named, "gateway").as_deref(), Some("10.0.0.1"));
        assert_eq!(says(named, "ntp").as_deref(), Some("10.0.0.3"));
        assert_eq!(says(named, "name").as_deref(), Some("crate5"));
        assert_eq!(says(named, "EPICS_CAS_INTF_ADDR_LIST").as_deref(), Some("10.0.0.9"));

        let script =
            b"mot-script-boot=waitProbe\ntftpGet -a4000000 -c10.0.0.8 -s10.0.0.2 -m255.255.255.0 -g10.0.0.1\
            -d/dev/enet0 -frtems-ioc.bin\nnetShut\ngo -a4000000\0\0";
        assert_eq!(says(script, "ip").as_deref(), Some("10.0.0.8"));
        assert_eq!(says(script, "ntp").as_deref(), Some("10.0.0.2"));
        assert_eq!(says(script, "gateway"), None, "an option runs into the next: no address");
        let other = Firmware { variables: script, port: "/dev/enet1", from_environment: false };
        assert_eq!(other.setting("mask", NOTHING).as_deref(), Some("255.255.255.0"), "no port is named");
        let named_port = b"mot-script-boot=tftpGet -c10.0.0.8 -d/dev/enet0 -fx\0\0";
        let firmware = |port| Firmware { variables: named_port, port, from_environment: false };
        assert_eq!(firmware("/dev/enet1").setting("ip", NOTHING), None);
        assert_eq!(firmware("/dev/enet0").setting("ip", NOTHING).as_deref(), Some("10.0.0.8"));
    }

    #[test]
    fn what_no_board_can_have_is_not_believed() {
        for address in ["0.0.0.0", "255.255.255.255", "224.0.0.1", "127.0.0.1", "10.0.0", "", "crate5"] {
            let area = format!("mot-/dev/enet0-cipa={address}\0mot-/dev/enet0-snma={address}\0\0");
            assert_eq!(says(area.as_bytes(), "ip"), None, "{address}");
            assert_eq!(says(area.as_bytes(), "mask").is_some(), address == "255.255.255.255", "{address}");
        }
        assert!(!is_mask("255.0.255.0") && is_mask("255.255.255.128"));
        // The address in the boot script stands in for one that is none.
        let both = b"mot-/dev/enet0-cipa=0.0.0.0\0mot-script-boot=tftpGet -c10.0.0.8 -fx\0\0";
        assert_eq!(says(both, "ip").as_deref(), Some("10.0.0.8"));
    }

    #[test]
    fn what_rtems_made_of_the_nvram_is_in_the_environment() {
        let environment = |name: &str| {
            let value = match name {
                "RTEMS_NET_IF_1_IP_ADDR" => "10.0.0.9",
                "RTEMS_NET_IF_1_NETMASK" => "255.255.255.0",
                "RTEMS_NET_GATEWAY_IP" => "255.255.255.255",
                "RTEMS_NET_NTP_IP" => "10.0.0.2",
                "RTEMS_NET_HOSTNAME" => "10.0.0.9",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let firmware = Firmware { variables: &[], port: "", from_environment: true };
        let says = |name| firmware.setting(name, &environment);
        assert_eq!(says("ip").as_deref(), Some("10.0.0.9"));
        assert_eq!(says("mask").as_deref(), Some("255.255.255.0"));
        assert_eq!(says("ntp").as_deref(), Some("10.0.0.2"));
        assert_eq!((says("gateway"), says("name"), says("EPICS_CA_ADDR_LIST")), (None, None, None));
        let own = Firmware { from_environment: false, ..firmware };
        assert_eq!(own.setting("ip", &environment), None);
    }
}
