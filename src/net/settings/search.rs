// SPDX-License-Identifier: BSD-2-Clause
//! Where a client's name searches go.

use alloc::string::String;
use alloc::vec::Vec;

use super::parse::Environment;
use super::{SERVER_PORT, SettingError};
use crate::os::socket::Address;

/// Reads `EPICS_CA_ADDR_LIST`, `EPICS_CA_AUTO_ADDR_LIST` and `EPICS_CA_SERVER_PORT`. `broadcasts` are the broadcast
/// addresses of the interfaces; without any, a search that is not directed goes to this host.
pub fn search_addresses(
    get: &dyn Fn(&str) -> Option<String>,
    resolve: &dyn Fn(&str) -> Option<u32>,
    broadcasts: &[u32],
) -> Result<Vec<Address>, SettingError> {
    let environment = Environment { get, resolve };
    let port = environment.first_port(&["EPICS_CA_SERVER_PORT"])?.unwrap_or(SERVER_PORT);
    let mut addresses = environment.addresses("EPICS_CA_ADDR_LIST", port)?;
    if environment.yes_or_no("EPICS_CA_AUTO_ADDR_LIST")?.unwrap_or(true) {
        let this_host = [Address::LOOPBACK];
        let automatic = if broadcasts.is_empty() { &this_host[..] } else { broadcasts };
        for &ip in automatic {
            let address = Address::new(ip, port);
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn addresses(variables: &[(&str, &str)], broadcasts: &[u32]) -> Result<Vec<Address>, SettingError> {
        let get = |wanted: &str| {
            variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_string())
        };
        search_addresses(&get, &|_| None, broadcasts)
    }

    #[test]
    fn listed_and_broadcast_addresses_are_searched() {
        let here = Address::new(Address::LOOPBACK, 5064);
        assert_eq!(addresses(&[], &[]), Ok(vec![here]));
        assert_eq!(addresses(&[], &[0x0a0000ff]), Ok(vec![Address::new(0x0a0000ff, 5064)]));
        let listed = ("EPICS_CA_ADDR_LIST", "10.0.0.1 10.0.0.2:5070");
        let (first, second) = (Address::new(0x0a000001, 6000), Address::new(0x0a000002, 5070));
        let port = ("EPICS_CA_SERVER_PORT", "6000");
        assert_eq!(
            addresses(&[listed, port, ("EPICS_CA_AUTO_ADDR_LIST", "NO")], &[1]),
            Ok(vec![first, second])
        );
        assert_eq!(addresses(&[listed, port], &[0x0a000001]), Ok(vec![first, second]));
        assert!(addresses(&[("EPICS_CA_ADDR_LIST", "nowhere.")], &[]).is_err());
    }
}
