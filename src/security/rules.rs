// SPDX-License-Identifier: BSD-2-Clause
//! User groups, host groups and access groups, and what follows from them.

use super::Subject;
use alloc::vec::Vec;

/// The group of records that name none, or one that the file does not have.
pub(super) const DEFAULT_GROUP: &[u8] = b"DEFAULT";

/// EPICS's access security levels: the value of a record has level 0, its other fields have level 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// ASL0.
    Value = 0,
    /// ASL1.
    Field = 1,
}

/// What a rule grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the names are the file's own
pub enum Permission {
    #[default]
    None,
    Read,
    Write,
}

/// A member of a host group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Host {
    /// The name that the client claims, whatever the case.
    Name(Vec<u8>),
    /// The address that it comes from.
    Address(u32),
    /// A name that could not be resolved where addresses count: nobody.
    Unknown(Vec<u8>),
}

/// A UAG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UserGroup {
    pub(super) name: Vec<u8>,
    pub(super) users: Vec<Vec<u8>>,
}

/// A HAG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostGroup {
    pub(super) name: Vec<u8>,
    pub(super) hosts: Vec<Host>,
}

/// A RULE. Empty lists mean everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) level: u8,
    pub(super) permission: Permission,
    pub(super) trapped: bool,
    /// Numbers of user groups, one of which the user must be in.
    pub(super) users: Vec<u16>,
    /// Numbers of host groups, one of which the host must be in.
    pub(super) hosts: Vec<u16>,
}

/// An ASG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AccessGroup {
    pub(super) name: Vec<u8>,
    pub(super) rules: Vec<Rule>,
}

/// What an access security file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    pub(super) users: Vec<UserGroup>,
    pub(super) hosts: Vec<HostGroup>,
    pub(super) groups: Vec<AccessGroup>,
}

impl Rules {
    /// What somebody may do with a field of this level in a record of this group, and whether puts are to be logged.
    pub fn permission(&self, group: &[u8], level: Level, who: &Subject<'_>) -> (Permission, bool) {
        let named = |name: &[u8]| self.groups.iter().find(|g| g.name == name);
        let Some(group) = named(group).or_else(|| named(DEFAULT_GROUP)) else {
            return (Permission::None, false);
        };
        let mut granted = (Permission::None, false);
        for rule in &group.rules {
            // The first rule that grants as much is the one whose TRAPWRITE counts.
            if rule.permission > granted.0 && level as u8 <= rule.level && self.applies(rule, who) {
                granted = (rule.permission, rule.trapped);
            }
        }
        granted
    }

    fn applies(&self, rule: &Rule, who: &Subject<'_>) -> bool {
        let user = |number: &u16| self.users.get(usize::from(*number)).is_some_and(|g| g.has(who));
        let host = |number: &u16| self.hosts.get(usize::from(*number)).is_some_and(|g| g.has(who));
        (rule.users.is_empty() || rule.users.iter().any(user))
            && (rule.hosts.is_empty() || rule.hosts.iter().any(host))
    }

    /// Numbers of user groups, host groups, access groups and rules.
    pub fn counts(&self) -> (usize, usize, usize, usize) {
        let rules = self.groups.iter().map(|g| g.rules.len()).sum();
        (self.users.len(), self.hosts.len(), self.groups.len(), rules)
    }

    /// Host names that could not be resolved, where addresses count.
    pub fn unresolved(&self) -> impl Iterator<Item = &[u8]> {
        self.hosts.iter().flat_map(|g| &g.hosts).filter_map(|host| match host {
            Host::Unknown(name) => Some(&**name),
            _ => None,
        })
    }
}

impl UserGroup {
    fn has(&self, who: &Subject<'_>) -> bool {
        self.users.iter().any(|user| user == who.user)
    }
}

impl HostGroup {
    fn has(&self, who: &Subject<'_>) -> bool {
        self.hosts.iter().any(|host| match host {
            Host::Name(name) => name.eq_ignore_ascii_case(who.host),
            Host::Address(address) => *address == who.address,
            Host::Unknown(_) => false,
        })
    }
}
