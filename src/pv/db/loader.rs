// SPDX-License-Identifier: BSD-2-Clause
//! The grammar of .db files, and what becomes of each statement.

use super::Loaded;
use super::assign::{Assignment, Wish, assign};
use super::error::{Fault, Place, Quoted, fault};
use super::lexer::{Kind, Lexer, Token};
use crate::pv::record::Record;
use crate::pv::{AddError, Database, MAX_GROUP, RecordType};
use alloc::string::String;
use alloc::vec::Vec;

/// The most notes kept; what is more is only counted.
const MAX_NOTES: usize = 8;

/// A field as it was read, until its record is complete: FTVL and NELM must come first, wherever they stand.
pub(super) struct Read {
    pub(super) name: Vec<u8>,
    pub(super) name_place: Place,
    pub(super) text: Vec<u8>,
    pub(super) place: Place,
    pub(super) json: bool,
}

/// Loads one file.
pub(super) struct Loader<'a> {
    database: &'a mut Database,
    lexer: Lexer<'a>,
    /// What came after a record without braces.
    unread: Option<Token>,
    /// The first index of this file.
    first: u32,
    loaded: Loaded,
    infos: u32,
    process: Vec<u32>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(database: &'a mut Database, text: &'a [u8], macros: &'a [(&'a str, &'a str)]) -> Self {
        let first = database.len();
        Loader {
            database,
            lexer: Lexer::new(text, macros),
            unread: None,
            first,
            loaded: Loaded::default(),
            infos: 0,
            process: Vec::new(),
        }
    }

    pub(super) fn load(mut self) -> Result<Loaded, Fault> {
        loop {
            let token = match self.unread.take() {
                Some(token) => token,
                None => self.lexer.next(false)?,
            };
            match token.kind {
                Kind::End => break,
                Kind::Word(word) => self.statement(&word, token.place)?,
                Kind::Sign(sign) => {
                    return Err(fault!(
                        token.place,
                        "'{}' is out of place; a record was expected",
                        sign as char
                    ));
                }
                Kind::Json(_) => {
                    return Err(fault!(token.place, "JSON is out of place; a record was expected"));
                }
            }
        }
        for index in core::mem::take(&mut self.process) {
            self.database.process_at_start(index);
        }
        if self.infos > 0 {
            let infos = self.infos;
            self.note(|| alloc::format!("{infos} info items were ignored: nothing here uses them"));
        }
        Ok(self.loaded)
    }

    fn note(&mut self, text: impl FnOnce() -> String) {
        if self.loaded.notes.len() < MAX_NOTES && self.loaded.notes.try_reserve(1).is_ok() {
            self.loaded.notes.push(text());
        }
    }

    fn statement(&mut self, word: &[u8], place: Place) -> Result<(), Fault> {
        match word {
            b"record" | b"grecord" => self.record(),
            b"alias" => {
                self.sign(b'(')?;
                let (name, name_place) = self.word("a record's name")?;
                self.sign(b',')?;
                let alias = self.word("the alias")?;
                self.sign(b')')?;
                let Some(index) = self.database.find_record(&name) else {
                    return Err(fault!(name_place, "there is no record {} to alias", Quoted(&name)));
                };
                self.alias(alias, index)
            }
            b"include" | b"path" | b"addpath" => {
                Err(fault!(place, "{} is not supported; load the files one by one", word.escape_ascii()))
            }
            b"menu" | b"recordtype" | b"device" | b"driver" | b"link" | b"registrar" | b"function"
            | b"variable" | b"breaktable" => Err(fault!(
                place,
                "{} belongs into a .dbd file; remove it: record types are built in",
                word.escape_ascii()
            )),
            _ => Err(fault!(place, "{} is no statement; record, alias and comments are", Quoted(word))),
        }
    }

    fn record(&mut self) -> Result<(), Fault> {
        self.sign(b'(')?;
        let (type_name, type_place) = self.word("a record type")?;
        self.sign(b',')?;
        let (name, name_place) = self.word("the record's name")?;
        self.sign(b')')?;
        let known = self.database.find_record(&name);
        let type_ = core::str::from_utf8(&type_name).ok().and_then(RecordType::from_name);
        let index = match (known, type_) {
            (Some(index), _) if index >= self.first => {
                // Again: more fields for the same record.
                if type_name != b"*" && type_name != self.database.type_name(index).as_bytes() {
                    return Err(fault!(
                        name_place,
                        "record {} is a {} already; use \"*\" to add fields to it",
                        Quoted(&name),
                        self.database.type_name(index)
                    ));
                }
                index
            }
            (Some(_), _) => {
                return Err(fault!(
                    name_place,
                    "record {} exists already; give it another name",
                    Quoted(&name)
                ));
            }
            (None, None) if type_name == b"*" => {
                return Err(fault!(name_place, "there is no record {} to add fields to", Quoted(&name)));
            }
            (None, None) => return Err(unknown_type(&type_name, type_place)),
            (None, Some(type_)) => {
                let record = Record::new(type_).map_err(|_| Fault::out_of_memory(name_place))?;
                let index =
                    self.database.add(&name, record).map_err(|error| name_fault(error, &name, name_place))?;
                self.loaded.records += 1;
                index
            }
        };
        self.body(index)
    }

    /// The fields of a record, in braces; a record may have none.
    fn body(&mut self, index: u32) -> Result<(), Fault> {
        let mut fields = Vec::new();
        let open = self.lexer.next(false)?;
        if open.kind != Kind::Sign(b'{') {
            self.unread = Some(open);
            return Ok(());
        }
        loop {
            let token = self.lexer.next(false)?;
            match token.kind {
                Kind::Sign(b'}') => break,
                Kind::Word(ref word) => match word.as_slice() {
                    b"field" => {
                        let field = self.field()?;
                        fields.try_reserve(1).map_err(|_| Fault::out_of_memory(token.place))?;
                        fields.push(field);
                    }
                    b"alias" => {
                        self.sign(b'(')?;
                        let alias = self.word("the alias")?;
                        self.sign(b')')?;
                        self.alias(alias, index)?;
                    }
                    b"info" => {
                        self.sign(b'(')?;
                        self.word("the item's name")?;
                        self.sign(b',')?;
                        self.value()?;
                        self.sign(b')')?;
                        self.infos += 1;
                    }
                    word => {
                        return Err(fault!(token.place, "{} is none of field, alias, info", Quoted(word)));
                    }
                },
                Kind::End => return Err(fault!(open.place, "this '{{' is not closed")),
                _ => return Err(expected(&token, "field, alias, info or '}'")),
            }
        }
        assign_all(self.database, index, &fields, &mut self.process)
    }

    fn field(&mut self) -> Result<Read, Fault> {
        self.sign(b'(')?;
        let (name, name_place) = self.word("a field's name")?;
        self.sign(b',')?;
        let (text, place, json) = self.value()?;
        self.sign(b')')?;
        Ok(Read { name, name_place, text, place, json })
    }

    fn alias(&mut self, (alias, place): (Vec<u8>, Place), index: u32) -> Result<(), Fault> {
        self.database.add_alias(&alias, index).map_err(|error| name_fault(error, &alias, place))?;
        self.loaded.aliases += 1;
        Ok(())
    }

    fn sign(&mut self, sign: u8) -> Result<(), Fault> {
        let token = self.lexer.next(false)?;
        if token.kind == Kind::Sign(sign) {
            return Ok(());
        }
        let mut wanted = String::from("' '");
        wanted.replace_range(1..2, core::str::from_utf8(&[sign]).unwrap_or(" "));
        Err(expected(&token, &wanted))
    }

    fn word(&mut self, what: &str) -> Result<(Vec<u8>, Place), Fault> {
        let token = self.lexer.next(false)?;
        match token.kind {
            Kind::Word(word) => Ok((word, token.place)),
            _ => Err(expected(&token, what)),
        }
    }

    fn value(&mut self) -> Result<(Vec<u8>, Place, bool), Fault> {
        let token = self.lexer.next(true)?;
        match token.kind {
            Kind::Word(word) => Ok((word, token.place, false)),
            Kind::Json(json) => Ok((json, token.place, true)),
            _ => Err(expected(&token, "a value")),
        }
    }
}

/// Sets the fields of a record; what makes an array or a text comes before what goes into it. Records that are to
/// process when all is loaded are added to `process`.
pub(super) fn assign_all(
    database: &mut Database,
    index: u32,
    fields: &[Read],
    process: &mut Vec<u32>,
) -> Result<(), Fault> {
    let rank = |name: &[u8]| match name {
        b"FTVL" | b"SIZV" => 0,
        b"NELM" => 1,
        _ => 2,
    };
    for wanted in 0..=2 {
        for read in fields.iter().filter(|read| rank(&read.name) == wanted) {
            assign_one(database, index, read, process)?;
        }
    }
    if let Some(record) = database.record_mut(index) {
        record.remember_value();
    }
    Ok(())
}

fn assign_one(database: &mut Database, index: u32, read: &Read, process: &mut Vec<u32>) -> Result<(), Fault> {
    if read.name == b"ASG" {
        return database.set_group(index, &read.text).map_err(|_| {
            fault!(
                read.place,
                "ASG {} cannot be used: it has up to {MAX_GROUP} characters",
                Quoted(&read.text)
            )
        });
    }
    let Some(record) = database.record_mut(index) else { return Ok(()) };
    let assignment = Assignment {
        name: &read.name,
        name_place: read.name_place,
        text: &read.text,
        place: read.place,
        json: read.json,
    };
    if assign(record, &assignment)? == Wish::ProcessAtStart {
        process.try_reserve(1).map_err(|_| Fault::out_of_memory(read.place))?;
        process.push(index);
    }
    Ok(())
}

fn expected(token: &Token, what: &str) -> Fault {
    match &token.kind {
        Kind::Word(word) => fault!(token.place, "{what} expected, not {}", Quoted(word)),
        Kind::Json(_) => fault!(token.place, "{what} expected, not JSON"),
        Kind::Sign(sign) => fault!(token.place, "{what} expected, not '{}'", *sign as char),
        Kind::End => fault!(token.place, "{what} expected, but the file ends"),
    }
}

fn name_fault(error: AddError, name: &[u8], place: Place) -> Fault {
    if error == AddError::Memory {
        return Fault::out_of_memory(place);
    }
    fault!(place, "the name {} cannot be used: {error}", Quoted(name))
}

fn unknown_type(name: &[u8], place: Place) -> Fault {
    let mut known = String::new();
    for type_ in RecordType::ALL {
        known.push_str(if known.is_empty() { "" } else { ", " });
        known.push_str(type_.name());
    }
    fault!(place, "record type {} is not supported; these are: {known}", Quoted(name))
}
