// SPDX-License-Identifier: BSD-2-Clause
//! Where the settings of an image come from, and which of them counts.
//!
//! | first to last | example |
//! |---|---|
//! | boot command line | `--ip=192.168.1.20 --EPICS_CAS_BEACON_ADDR_LIST="10.0.0.255 10.1.0.255"` |
//! | firmware variables | `mot-/dev/enet0-cipa` of MOTLoad; what the BSP's start made of its NVRAM (`RTEMS_NET_...`) |
//! | environment of the image | `EPICS_CAS_INTF_ADDR_LIST`, set by the application or by `setenv` |
//! | DHCP or BOOTP | the option NTP servers |
//! | bsp-config | `address`, `[epics]` |
//!
//! Settings are `ip`, `mask`, `gateway`, `ntp`, `name` and the EPICS variables under their own names. Everything here is
//! text; `os/rtems` hands the sources in.

pub mod command_line;
pub mod firmware;

use alloc::borrow::ToOwned;
use alloc::string::String;

use firmware::Firmware;

/// Settings that restrict who may write or log who did. They come to nothing by a `no` alone: where one stands without a
/// value it says yes.
const SWITCHES: [&str; 3] = ["read-only", "put-log", "check-client-ip"];
/// What a switch without a value says.
const YES: &str = "yes";

/// The sources of one image.
pub trait Sources {
    /// The text that the boot loader handed over; empty without one.
    fn command_line(&self) -> &str;

    /// The variables of the board's firmware.
    fn firmware(&self) -> Firmware<'_>;

    /// A variable of the image's environment.
    fn environment(&self, name: &str) -> Option<String>;

    /// What the network's configuration server said of this setting.
    fn network(&self, name: &str) -> Option<String>;

    /// What the BSP's file in bsp-config says.
    fn configured(&self, name: &str) -> Option<&str>;
}

/// The value of a setting, from the first source that has one; an empty value is none, that of a switch is yes.
pub fn setting(sources: &impl Sources, name: &str) -> Option<String> {
    if SWITCHES.contains(&name) {
        return switch(sources, name);
    }
    let environment = |name: &str| sources.environment(name).filter(|value| !value.is_empty());
    command_line::option(sources.command_line(), name)
        .or_else(|| sources.firmware().setting(name, &environment))
        .or_else(|| environment(name))
        .or_else(|| sources.network(name))
        .or_else(|| sources.configured(name).map(ToOwned::to_owned))
        .filter(|value| !value.is_empty())
}

/// The same for one of [`SWITCHES`].
fn switch(sources: &impl Sources, name: &str) -> Option<String> {
    let environment = |name: &str| sources.environment(name);
    command_line::switch(sources.command_line(), name)
        .or_else(|| sources.firmware().setting(name, &environment))
        .or_else(|| environment(name))
        .or_else(|| sources.network(name))
        .or_else(|| sources.configured(name).map(ToOwned::to_owned))
        .map(|value| if value.is_empty() { YES.to_owned() } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources from which the first ones are taken away, one after the other.
    struct Board {
        without: usize,
    }

    impl Sources for Board {
        fn command_line(&self) -> &str {
            if self.without < 1 { "--ntp=10.0.0.1 --name= --read-only --EPICS_CA_MCAST_TTL=3" } else { "" }
        }

        fn firmware(&self) -> Firmware<'_> {
            let variables: &[u8] = b"epics-ntpserver=10.0.0.2\0rtems-ioc-EPICS_CA_MCAST_TTL=4\0\0";
            let variables = if self.without < 2 { variables } else { &[] };
            Firmware { variables, port: "/dev/enet0", from_environment: true }
        }

        fn environment(&self, name: &str) -> Option<String> {
            let value = match name {
                "ntp" if self.without < 3 => "10.0.0.3",
                "EPICS_CAS_SERVER_PORT" => "6064",
                "put-log" => "",
                _ => return None,
            };
            Some(value.to_owned())
        }

        fn network(&self, name: &str) -> Option<String> {
            (name == "ntp" && self.without < 4).then(|| "10.0.0.4".to_owned())
        }

        fn configured(&self, name: &str) -> Option<&str> {
            match name {
                "ntp" => Some("10.0.0.5"),
                "name" => Some("crate"),
                "ip" => Some(""),
                "check-client-ip" => Some("no"),
                _ => None,
            }
        }
    }

    #[test]
    fn the_first_source_that_says_something_counts() {
        for without in 0..=4 {
            let expected = ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"][without];
            assert_eq!(setting(&Board { without }, "ntp").as_deref(), Some(expected));
        }
        let ttl = |without| setting(&Board { without }, "EPICS_CA_MCAST_TTL");
        assert_eq!((ttl(0).as_deref(), ttl(1).as_deref(), ttl(2)), (Some("3"), Some("4"), None));
    }

    #[test]
    fn a_switch_without_a_value_is_yes_in_every_source() {
        let said = |without, name| setting(&Board { without }, name);
        assert_eq!(said(0, "read-only").as_deref(), Some("yes"));
        assert_eq!(said(1, "read-only"), None);
        assert_eq!(said(0, "put-log").as_deref(), Some("yes"));
        assert_eq!(said(0, "check-client-ip").as_deref(), Some("no"));
    }

    #[test]
    fn an_empty_value_is_none() {
        let board = Board { without: 0 };
        assert_eq!(setting(&board, "name").as_deref(), Some("crate"));
        assert_eq!(setting(&board, "ip"), None);
        assert_eq!(setting(&board, "EPICS_CAS_SERVER_PORT").as_deref(), Some("6064"));
        assert_eq!(setting(&board, "gateway"), None);
    }
}
