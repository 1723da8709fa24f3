// SPDX-License-Identifier: BSD-2-Clause
//! Text of access security files: it is taken whole or not at all, an error names a line of the text, and what it grants
//! does not depend on when it is asked.
use rtems_ioc::security::{Level, Permission, Subject, acf};

/// One input.
pub fn run(text: &[u8]) {
    let resolve = |name: &str| name.len().is_multiple_of(2).then_some(name.len() as u32);
    for by_address in [None, Some(&resolve as acf::Resolve<'_>)] {
        match acf::parse("fuzz.acf", text, by_address) {
            Ok(rules) => {
                for group in [&b"DEFAULT"[..], b"a", b"nobody's"] {
                    for (user, host) in [(&b"ann"[..], &b"console1"[..]), (b"", b""), (b"a", b"a")] {
                        let who = Subject { user, host, address: 8 };
                        let value = rules.permission(group, Level::Value, &who);
                        assert_eq!(value, rules.permission(group, Level::Value, &who));
                        // A rule for fields is one for values, too.
                        assert!(rules.permission(group, Level::Field, &who).0 <= value.0);
                        assert!(value.0 > Permission::None || !value.1);
                    }
                }
            }
            Err(error) => {
                assert!(
                    error.line >= 1
                        && error.line as usize <= text.iter().filter(|&&b| b == b'\n').count() + 1
                );
                assert!(!error.message.is_empty());
            }
        }
    }
}
