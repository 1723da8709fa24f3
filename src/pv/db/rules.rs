// SPDX-License-Identifier: BSD-2-Clause
//! Fields of a .db file that are no fields of ours: what may be ignored, and what cannot be done.

use crate::pv::RecordType as R;

/// What to do with a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Rule {
    /// Without hardware it has no meaning.
    Ignore,
    /// Nothing but these, which mean "as it is"; the text is the remedy.
    Only(&'static [&'static str], &'static str),
    /// A constant is the initial value; a link is impossible.
    Initial,
    /// Whether to process at the start.
    ProcessAtStart,
}

const ALL: u16 = u16::MAX;
const INPUTS: u16 = R::Ai.bit()
    | R::Longin.bit()
    | R::Int64in.bit()
    | R::Bi.bit()
    | R::Mbbi.bit()
    | R::Stringin.bit()
    | R::Lsi.bit()
    | R::Waveform.bit();
const OUTPUTS: u16 = R::Ao.bit()
    | R::Longout.bit()
    | R::Int64out.bit()
    | R::Bo.bit()
    | R::Mbbo.bit()
    | R::Stringout.bit()
    | R::Lso.bit();
const STATES: u16 = R::Bi.bit() | R::Bo.bit() | R::Mbbi.bit() | R::Mbbo.bit();
const TEXTS: u16 = R::Stringin.bit() | R::Stringout.bit();
const DOUBLES: u16 = R::Ai.bit() | R::Ao.bit();

const NO_LINK: &[&str] = &["", "0", "1"];
const ZERO: &[&str] = &["", "0", "0.0", "NO"];
const LINKS: &str = "links are not followed here; leave it empty";

/// By name; the first row whose record types fit counts.
const RULES: &[(&str, u16, Rule)] = &[
    ("INP", INPUTS, Rule::Initial),
    ("DOL", OUTPUTS, Rule::Initial),
    ("OUT", OUTPUTS, Rule::Only(NO_LINK, LINKS)),
    ("FLNK", ALL, Rule::Only(NO_LINK, LINKS)),
    ("SDIS", ALL, Rule::Only(NO_LINK, LINKS)),
    ("TSEL", ALL, Rule::Only(NO_LINK, LINKS)),
    ("SIOL", ALL, Rule::Only(NO_LINK, LINKS)),
    ("SIML", ALL, Rule::Only(NO_LINK, LINKS)),
    ("PINI", ALL, Rule::ProcessAtStart),
    (
        "SCAN",
        ALL,
        Rule::Only(
            &["Passive", "0"],
            "nothing is scanned here; a record processes when it is written: use Passive",
        ),
    ),
    ("DTYP", ALL, Rule::Only(&["", "Soft Channel"], "there is no device support here; use \"Soft Channel\"")),
    ("OMSL", OUTPUTS, Rule::Only(&["supervisory", "0"], "links are not followed here; use supervisory")),
    ("DISP", ALL, Rule::Only(ZERO, "puts cannot be disabled by field; remove it")),
    ("DISA", ALL, Rule::Only(ZERO, "records cannot be disabled; remove it")),
    ("SIMM", ALL, Rule::Only(ZERO, "there is no simulation mode; remove it")),
    ("TSE", ALL, Rule::Only(ZERO, "values are stamped with the time of the put; use 0")),
    (
        "LINR",
        DOUBLES,
        Rule::Only(&["NO CONVERSION", "0"], "there are no raw values to convert; use NO CONVERSION"),
    ),
    ("SMOO", R::Ai.bit(), Rule::Only(ZERO, "values are not smoothed; remove it")),
    ("AFTC", ALL, Rule::Only(ZERO, "alarms are not filtered; remove it")),
    ("OROC", R::Ao.bit(), Rule::Only(ZERO, "outputs have no rate of change; remove it")),
    ("OIF", R::Ao.bit(), Rule::Only(&["Full", "0"], "incremental outputs are not supported; use Full")),
    ("HIGH", R::Bo.bit(), Rule::Only(ZERO, "a bo does not switch back by itself; remove it")),
    ("MPST", TEXTS, Rule::Only(&["On Change", "0"], "texts post on change; remove it")),
    ("APST", TEXTS, Rule::Only(&["On Change", "0"], "texts post on change; remove it")),
    ("DISV", ALL, Rule::Ignore),
    ("DISS", ALL, Rule::Ignore),
    ("EVNT", ALL, Rule::Ignore),
    ("PHAS", ALL, Rule::Ignore),
    ("PRIO", ALL, Rule::Ignore),
    ("TPRO", ALL, Rule::Ignore),
    ("UDFS", ALL, Rule::Ignore),
    ("SIMS", ALL, Rule::Ignore),
    ("SSCN", ALL, Rule::Ignore),
    ("SDLY", ALL, Rule::Ignore),
    ("IVOA", OUTPUTS, Rule::Ignore),
    ("IVOV", OUTPUTS, Rule::Ignore),
    ("EGUF", DOUBLES, Rule::Ignore),
    ("EGUL", DOUBLES, Rule::Ignore),
    ("ESLO", DOUBLES, Rule::Ignore),
    ("EOFF", DOUBLES, Rule::Ignore),
    ("ASLO", DOUBLES, Rule::Ignore),
    ("AOFF", DOUBLES, Rule::Ignore),
    ("ROFF", DOUBLES, Rule::Ignore),
    ("RVAL", DOUBLES | STATES, Rule::Ignore),
    ("MASK", STATES, Rule::Ignore),
    ("RARM", R::Waveform.bit(), Rule::Ignore),
    ("NOBT", R::Mbbo.bit() | R::Mbbi.bit(), Rule::Ignore),
    ("SHFT", R::Mbbo.bit() | R::Mbbi.bit(), Rule::Ignore),
];

/// The fields of a record type that have a rule, and an effect.
pub(super) fn effective(of: R) -> impl Iterator<Item = &'static str> {
    RULES
        .iter()
        .filter(move |(_, types, rule)| {
            types & of.bit() != 0 && matches!(rule, Rule::Initial | Rule::ProcessAtStart)
        })
        .map(|(name, ..)| *name)
}

/// The rule for a field of a record type, if there is one.
pub(super) fn find(of: R, name: &[u8]) -> Option<Rule> {
    RULES
        .iter()
        .find(|(known, types, _)| known.as_bytes() == name && types & of.bit() != 0)
        .map(|(.., rule)| *rule)
}
