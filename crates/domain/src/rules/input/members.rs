//! The members of a rule as they were read, before the kind of the rule is known.

use super::InputRule;
use super::build::Reading;
use super::kind::KINDS;
use super::member::InputValue;
use crate::rules::error::{Place, RuleErrors};

/// The members of a rule as they were read.
#[derive(Default)]
pub(super) struct Members {
    input: Vec<(&'static str, InputValue, Option<Place>)>,
    twice: Vec<(&'static str, Option<Place>)>,
    unknown: Vec<(String, Option<Place>)>,
}

impl Members {
    pub(super) fn add(&mut self, name: &'static str, input: InputValue, place: Option<Place>) {
        if self.input.iter().all(|(known, ..)| *known != name) {
            self.input.push((name, input, place));
        } else if self.twice.iter().all(|(known, _)| *known != name) {
            self.twice.push((name, place));
        }
    }

    pub(super) fn add_unknown(&mut self, name: String, place: Option<Place>) {
        if self.unknown.len() <= RuleErrors::MOST {
            self.unknown.push((name, place));
        }
    }

    pub(super) fn into_rule(self, place: Option<Place>) -> InputRule {
        let placed = |(name, _, place): &(&'static str, _, Option<Place>)| Some((*name, (*place)?));
        let mut reading = Reading {
            rule: InputRule {
                place,
                places: self.input.iter().filter_map(placed).collect(),
                ..InputRule::default()
            },
            input: self.input,
        };
        for (name, place) in self.twice {
            reading.rule.add_fault(name, "is given twice", place);
        }
        let kind = reading.one_of("type", &KINDS);
        reading.refuse_unknown(kind, self.unknown);
        reading.read_common();
        if let Some(kind) = kind {
            let kind = reading.read_kind(kind);
            reading.rule.kind = Some(kind);
        }
        reading.rule
    }
}
