// SPDX-License-Identifier: BSD-2-Clause
//! The grammar of access security files.

use super::Resolve;
use super::lexer::{Fault, Lexer, Quoted, Token, fault};
use crate::security::rules::{AccessGroup, Host, HostGroup, Permission, Rule, Rules, UserGroup};
use alloc::vec::Vec;

/// The most groups of one kind, members of a group, or rules.
const MOST: usize = 1000;

/// See the module's description.
pub(super) struct Parser<'a, 'r> {
    lexer: Lexer<'a>,
    /// What came after something that may go on.
    unread: Option<Token<'a>>,
    by_address: Option<Resolve<'r>>,
    rules: Rules,
}

impl<'a, 'r> Parser<'a, 'r> {
    pub(super) fn new(text: &'a [u8], by_address: Option<Resolve<'r>>) -> Self {
        Parser { lexer: Lexer::new(text), unread: None, by_address, rules: Rules::default() }
    }

    pub(super) fn parse(mut self) -> Result<Rules, Fault> {
        loop {
            match self.next()? {
                Token::End => return Ok(self.rules),
                Token::Word(b"UAG") => self.user_group()?,
                Token::Word(b"HAG") => self.host_group()?,
                Token::Word(b"ASG") => self.access_group()?,
                other => {
                    return Err(fault!(
                        self.lexer.line,
                        "{other} is out of place; UAG, HAG and ASG are known"
                    ));
                }
            }
        }
    }

    fn next(&mut self) -> Result<Token<'a>, Fault> {
        match self.unread.take() {
            Some(token) => Ok(token),
            None => self.lexer.next(),
        }
    }

    fn sign(&mut self, sign: u8) -> Result<(), Fault> {
        match self.next()? {
            Token::Sign(found) if found == sign => Ok(()),
            other => Err(fault!(self.lexer.line, "'{}' expected, not {other}", sign as char)),
        }
    }

    fn word(&mut self, what: &str) -> Result<&'a [u8], Fault> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => Err(fault!(self.lexer.line, "{what} expected, not {other}")),
        }
    }

    /// `(name)`.
    fn name(&mut self) -> Result<&'a [u8], Fault> {
        self.sign(b'(')?;
        let name = self.word("a name")?;
        self.sign(b')')?;
        Ok(name)
    }

    /// Whether a body in braces follows.
    fn opens(&mut self) -> Result<bool, Fault> {
        let token = self.next()?;
        if token == Token::Sign(b'{') {
            return Ok(true);
        }
        self.unread = Some(token);
        Ok(false)
    }

    /// Words separated by commas up to `close`; hands each to `take`.
    fn list(
        &mut self,
        close: u8,
        mut take: impl FnMut(&mut Self, &'a [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        loop {
            match self.next()? {
                Token::Sign(sign) if sign == close => return Ok(()),
                Token::Sign(b',') => {}
                Token::Word(word) => take(self, word)?,
                other => {
                    return Err(fault!(
                        self.lexer.line,
                        "a name or '{}' expected, not {other}",
                        close as char
                    ));
                }
            }
        }
    }

    fn copy(&self, word: &[u8]) -> Result<Vec<u8>, Fault> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(word.len()).map_err(|_| self.no_memory())?;
        copy.extend_from_slice(word);
        Ok(copy)
    }

    fn no_memory(&self) -> Fault {
        fault!(self.lexer.line, "out of memory")
    }

    fn push<T>(&self, list: &mut Vec<T>, item: T) -> Result<(), Fault> {
        if list.len() >= MOST {
            return Err(fault!(self.lexer.line, "there are more than {MOST} of these"));
        }
        list.try_reserve(1).map_err(|_| self.no_memory())?;
        list.push(item);
        Ok(())
    }

    fn user_group(&mut self) -> Result<(), Fault> {
        let name = self.name()?;
        if self.rules.users.iter().any(|g| g.name == name) {
            return Err(fault!(self.lexer.line, "UAG {} is there already", Quoted(name)));
        }
        let mut users = Vec::new();
        if self.opens()? {
            self.list(b'}', |parser, user| {
                let user = parser.copy(user)?;
                parser.push(&mut users, user)
            })?;
        }
        let group = UserGroup { name: self.copy(name)?, users };
        let mut groups = core::mem::take(&mut self.rules.users);
        self.push(&mut groups, group)?;
        self.rules.users = groups;
        Ok(())
    }

    fn host_group(&mut self) -> Result<(), Fault> {
        let name = self.name()?;
        if self.rules.hosts.iter().any(|g| g.name == name) {
            return Err(fault!(self.lexer.line, "HAG {} is there already", Quoted(name)));
        }
        let mut hosts = Vec::new();
        if self.opens()? {
            self.list(b'}', |parser, host| {
                let host = parser.host(host)?;
                parser.push(&mut hosts, host)
            })?;
        }
        let group = HostGroup { name: self.copy(name)?, hosts };
        let mut groups = core::mem::take(&mut self.rules.hosts);
        self.push(&mut groups, group)?;
        self.rules.hosts = groups;
        Ok(())
    }

    /// A dotted quad is an address in any case: nobody can claim it.
    fn host(&self, word: &[u8]) -> Result<Host, Fault> {
        let text = core::str::from_utf8(word).unwrap_or_default();
        if let Ok(address) = text.parse::<core::net::Ipv4Addr>() {
            return Ok(Host::Address(address.into()));
        }
        Ok(match self.by_address {
            None => Host::Name(self.copy(word)?),
            Some(resolve) => match resolve(text) {
                Some(address) => Host::Address(address),
                None => Host::Unknown(self.copy(word)?),
            },
        })
    }

    fn access_group(&mut self) -> Result<(), Fault> {
        let name = self.name()?;
        if self.rules.groups.iter().any(|g| g.name == name) {
            return Err(fault!(self.lexer.line, "ASG {} is there already", Quoted(name)));
        }
        let mut rules = Vec::new();
        if self.opens()? {
            loop {
                match self.next()? {
                    Token::Sign(b'}') => break,
                    Token::Word(b"RULE") => {
                        let rule = self.rule()?;
                        self.push(&mut rules, rule)?;
                    }
                    Token::Word(word) if word.starts_with(b"INP") => {
                        return Err(fault!(
                            self.lexer.line,
                            "{} is not supported: rules do not depend on the values of records here",
                            word.escape_ascii()
                        ));
                    }
                    other => return Err(fault!(self.lexer.line, "RULE or '}}' expected, not {other}")),
                }
            }
        }
        let group = AccessGroup { name: self.copy(name)?, rules };
        let mut groups = core::mem::take(&mut self.rules.groups);
        self.push(&mut groups, group)?;
        self.rules.groups = groups;
        Ok(())
    }

    fn rule(&mut self) -> Result<Rule, Fault> {
        self.sign(b'(')?;
        let level = self.word("a level")?;
        let level = match core::str::from_utf8(level).ok().and_then(|text| text.parse().ok()) {
            Some(level @ 0..=1) => level,
            _ => return Err(fault!(self.lexer.line, "level {} is none: give 0 or 1", Quoted(level))),
        };
        let mut rule = Rule { level, ..Rule::default() };
        self.sign(b',')?;
        rule.permission = match self.word("a permission")? {
            b"NONE" => Permission::None,
            b"READ" => Permission::Read,
            b"WRITE" => Permission::Write,
            other => {
                let line = self.lexer.line;
                return Err(fault!(line, "permission {} is none of NONE, READ, WRITE", Quoted(other)));
            }
        };
        match self.next()? {
            Token::Sign(b')') => {}
            Token::Sign(b',') => {
                rule.trapped = match self.word("TRAPWRITE or NOTRAPWRITE")? {
                    b"TRAPWRITE" => true,
                    b"NOTRAPWRITE" => false,
                    other => {
                        let line = self.lexer.line;
                        return Err(fault!(line, "{} is neither TRAPWRITE nor NOTRAPWRITE", Quoted(other)));
                    }
                };
                self.sign(b')')?;
            }
            other => return Err(fault!(self.lexer.line, "',' or ')' expected, not {other}")),
        }
        if self.opens()? {
            self.conditions(&mut rule)?;
        }
        Ok(rule)
    }

    fn conditions(&mut self, rule: &mut Rule) -> Result<(), Fault> {
        loop {
            match self.next()? {
                Token::Sign(b'}') => return Ok(()),
                Token::Word(b"UAG") => {
                    self.sign(b'(')?;
                    self.list(b')', |parser, name| {
                        let known = parser.rules.users.iter().position(|g| g.name == name);
                        let number = parser.known(known, "UAG", name)?;
                        parser.push(&mut rule.users, number)
                    })?;
                    self.named(&rule.users, "UAG")?;
                }
                Token::Word(b"HAG") => {
                    self.sign(b'(')?;
                    self.list(b')', |parser, name| {
                        let known = parser.rules.hosts.iter().position(|g| g.name == name);
                        let number = parser.known(known, "HAG", name)?;
                        parser.push(&mut rule.hosts, number)
                    })?;
                    self.named(&rule.hosts, "HAG")?;
                }
                Token::Word(word @ (b"CALC" | b"METHOD" | b"AUTHORITY" | b"PROTOCOL")) => {
                    return Err(fault!(
                        self.lexer.line,
                        "{} is not supported in a rule; UAG and HAG are",
                        word.escape_ascii()
                    ));
                }
                other => return Err(fault!(self.lexer.line, "UAG, HAG or '}}' expected, not {other}")),
            }
        }
    }

    /// A condition without a name would let everybody in.
    fn named(&self, groups: &[u16], kind: &str) -> Result<(), Fault> {
        if groups.is_empty() {
            return Err(fault!(self.lexer.line, "{kind} names no group"));
        }
        Ok(())
    }

    fn known(&self, number: Option<usize>, kind: &str, name: &[u8]) -> Result<u16, Fault> {
        match number {
            Some(number) => Ok(number as u16),
            None => Err(fault!(self.lexer.line, "there is no {kind} {}; define it first", Quoted(name))),
        }
    }
}
