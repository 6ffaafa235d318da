//! Rules as their authors write them, read leniently: reading goes on after a mistake, so that all
//! mistakes are reported at once, each with its place. Only rules without a mistake become
//! [`Rule`]s.

mod build;
mod deserialize;
mod errors;
mod kind;
mod line_numbers;
mod member;
mod members;

use std::collections::HashMap;

use super::error::{Place, RuleError, RuleErrors};
use super::{MAX_RULES, Rule, RuleKind};
use crate::id::RuleId;

pub(crate) use deserialize::RulesReader;
pub use errors::WrongRules;
pub(crate) use line_numbers::{InYaml, Placing, Unplaced};
pub(crate) use member::{InputValue, Member, unknown_member};

/// The rules of a group as a request or a file gives them, right or wrong.
#[derive(Debug, Default)]
pub struct InputRules {
    rules: Vec<InputRule>,
    /// The number of rules, including those that were not kept because there are too many.
    count: usize,
    /// Mistakes outside of the rules.
    errors: Vec<RuleError>,
    /// There were so many mistakes that the rest was not read.
    cut: bool,
}

/// A rule. Harmless values stand in for wrong ones, so that the rest can be checked.
#[derive(Debug, Default)]
struct InputRule {
    id: Option<RuleId>,
    name: String,
    enabled: bool,
    exceptions: Vec<String>,
    /// `None` if the kind is unknown; then the rule has an error.
    kind: Option<RuleKind>,
    errors: Vec<MemberFault>,
    /// Where the rule and its members begin, if it comes from a file.
    place: Option<Place>,
    places: Vec<(&'static str, Place)>,
}

#[derive(Debug)]
struct MemberFault {
    /// The member, or empty for the rule itself.
    field: String,
    message: String,
    place: Option<Place>,
}

impl InputRules {
    /// The rules. Those without an id get one from `fresh`.
    ///
    /// # Errors
    /// There are mistakes: [`WrongRules::errors`] lists them. Mistakes that only compiling can find
    /// do not count here.
    pub fn into_rules(
        mut self,
        mut fresh: impl FnMut() -> RuleId,
    ) -> Result<Vec<Rule>, WrongRules> {
        self.find_twins();
        if self.count > MAX_RULES {
            self.add_fault(
                "rules",
                format!("must contain at most {MAX_RULES} rules"),
                None,
            );
        }
        if !self.errors.is_empty() || self.cut || self.rules.iter().any(InputRule::is_wrong) {
            return Err(WrongRules(self));
        }
        let rules = self.rules.into_iter();
        Ok(rules
            .filter_map(|rule| {
                let id = rule.id.unwrap_or_else(&mut fresh);
                rule.into_rule(id)
            })
            .collect())
    }

    /// The names of the rules, in their order; empty if a rule has no name. For reporting their
    /// mistakes.
    pub fn names(&self) -> Vec<String> {
        self.rules.iter().map(|rule| rule.name.clone()).collect()
    }

    /// A mistake outside of the rules.
    pub(crate) fn add_fault(
        &mut self,
        field: &str,
        message: impl Into<String>,
        place: Option<Place>,
    ) {
        if self.errors.len() >= RuleErrors::MOST {
            self.cut = true;
            return;
        }
        self.errors.push(RuleError {
            place,
            ..RuleError::of_group(field, message.into())
        });
    }

    fn find_twins(&mut self) {
        let mut places: HashMap<RuleId, usize> = HashMap::with_capacity(self.rules.len());
        for (at, rule) in self.rules.iter_mut().enumerate() {
            let Some(id) = rule.id else { continue };
            if let Some(first) = places.insert(id, at) {
                let message = format!("is also the id of rules[{first}]; omit it to get a new one");
                rule.add_fault("id", message, None);
            }
        }
    }
}

impl InputRule {
    const fn is_wrong(&self) -> bool {
        !self.errors.is_empty() || self.kind.is_none()
    }

    fn into_rule(self, id: RuleId) -> Option<Rule> {
        Some(Rule {
            id,
            name: self.name,
            enabled: self.enabled,
            exceptions: self.exceptions,
            kind: self.kind?,
        })
    }

    /// A mistake at a place. Without a place, the place of the member is used.
    fn add_fault(
        &mut self,
        field: impl Into<String>,
        message: impl Into<String>,
        place: Option<Place>,
    ) {
        let field = field.into();
        // One more than are listed, to show that there are more.
        if self.errors.len() <= RuleErrors::MOST {
            self.errors.push(MemberFault {
                place: place.or_else(|| self.place_of(&field)),
                field,
                message: message.into(),
            });
        }
    }

    /// The place of a member. For an item of a list, the place of the list.
    fn place_of(&self, field: &str) -> Option<Place> {
        let member = field.split('[').next().unwrap_or_default();
        let found = self.places.iter().find(|(name, _)| *name == member);
        found.map(|(_, place)| *place).or(self.place)
    }
}
