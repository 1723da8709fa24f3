// SPDX-License-Identifier: BSD-2-Clause
//! Who may read and write: EPICS's access security files, as far as they need no other records, and a log of puts.
//!
//! [`Rules`] are what a file says; [`Security`] adds the switches that an operator has. Both are asked when a channel is
//! created and when something of this changes, not for each message.

pub mod acf;
mod put_log;
mod rules;

pub use put_log::{Outcome, Put, PutLog};
pub use rules::{Level, Permission, Rules};

use rules::DEFAULT_GROUP;

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// User name as the client claims it.
    pub user: &'a [u8],
    /// Host name as the client claims it.
    pub host: &'a [u8],
    /// IPv4 address that it comes from, host order.
    pub address: u32,
}

/// What is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Reading and subscribing.
    pub read: bool,
    /// Writing.
    pub write: bool,
    /// Puts are to be logged.
    pub logged: bool,
}

/// The rules in force and the switches.
#[derive(Debug, Default)]
pub struct Security {
    rules: Option<Rules>,
    read_only: bool,
    /// The rules that were asked for could not be taken.
    locked: bool,
    log_all: bool,
    changed: bool,
}

impl Security {
    /// Puts rules in force; without any, everybody may do everything. Ends [`Security::lock`].
    pub fn set_rules(&mut self, rules: Option<Rules>) {
        self.rules = rules;
        self.locked = false;
        self.changed = true;
    }

    /// The rules in force.
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// The rules that were asked for could not be taken: nobody may write until others are in force.
    pub fn lock(&mut self) {
        self.locked = true;
        self.changed = true;
    }

    /// See [`Security::lock`].
    pub fn is_locked(&self) -> bool {
        self.locked
    }

    /// Nobody may write, whatever the rules say.
    pub fn set_read_only(&mut self, read_only: bool) {
        self.read_only = read_only;
        self.changed = true;
    }

    /// See [`Security::set_read_only`].
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Logs every put, not only those that a rule with TRAPWRITE allows.
    pub fn set_log_all(&mut self, log_all: bool) {
        self.log_all = log_all;
        self.changed = true;
    }

    /// See [`Security::set_log_all`].
    pub fn logs_all(&self) -> bool {
        self.log_all
    }

    /// Whether something has changed since the last call: every channel's rights have to be asked for again.
    pub fn take_change(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    /// What somebody may do with a field of this level in a record of this group (empty: none).
    pub fn granted(&self, group: &[u8], level: Level, who: &Subject<'_>) -> Granted {
        let (permission, trapped) = match &self.rules {
            Some(rules) => rules.permission(if group.is_empty() { DEFAULT_GROUP } else { group }, level, who),
            None => (Permission::Write, false),
        };
        Granted {
            read: permission >= Permission::Read,
            write: permission >= Permission::Write && !self.read_only && !self.locked,
            logged: trapped || self.log_all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOMEBODY: Subject<'static> = Subject { user: b"u", host: b"h", address: 1 };

    #[test]
    fn the_switches_come_before_the_rules() {
        let mut security = Security::default();
        let granted = |security: &Security| security.granted(b"", Level::Value, &SOMEBODY);
        assert_eq!(granted(&security), Granted { read: true, write: true, logged: false });
        security.set_read_only(true);
        security.set_log_all(true);
        assert!(security.take_change() && !security.take_change());
        assert_eq!(granted(&security), Granted { read: true, write: false, logged: true });
        security.set_read_only(false);
        security.lock();
        assert!(!granted(&security).write && security.is_locked() && security.take_change());
        // Rules that can be taken end that, and nothing else does.
        security.set_read_only(false);
        assert!(!granted(&security).write);
        security.set_rules(None);
        assert!(granted(&security).write && !security.is_locked());
        security.set_rules(Some(acf::parse("x", b"ASG(DEFAULT) { RULE(1, READ) }", None).unwrap()));
        assert_eq!(granted(&security), Granted { read: true, write: false, logged: true });
    }
}
