//! Rules as their authors write them, read leniently: reading goes on after a mistake, so that all
//! mistakes are reported at once, each with its place. Only rules without a mistake become
//! [`Rule`]s.

mod deserialize;
mod kind;
mod member;

use std::{collections::HashMap, time::Duration};

pub(crate) use self::{
    deserialize::RulesReader,
    member::{InYaml, InputValue, Member, Placing, Unplaced, unknown_member},
};
use super::{
    Limits, MAX_RULES, Rule, RuleKind,
    compiled::{check_apart, check_common},
    error::{ErrorList, Place, RuleError, RuleErrors},
};
use crate::id::RuleId;

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

/// Rules that have mistakes.
#[derive(Debug)]
pub struct WrongRules(InputRules);

impl WrongRules {
    /// All mistakes, including those that compiling finds in the rules and members that could be
    /// read, within limits. `clock` returns the time that the thread has used, counted from any
    /// start.
    pub fn errors(self, limits: Limits, clock: &dyn Fn() -> Duration) -> RuleErrors {
        let Self(mut input) = self;
        let found = if input.count > MAX_RULES {
            ErrorList::default()
        } else {
            input.check(limits, clock)
        };
        let InputRules {
            rules,
            errors: outside,
            cut,
            ..
        } = input;
        let mut errors = outside;
        let (of_rules, of_group): (Vec<_>, Vec<_>) = found
            .into_errors()
            .into_iter()
            .partition(|error| error.rule.is_some());
        let mut checked = of_rules.into_iter().peekable();
        for (at, rule) in rules.into_iter().enumerate() {
            let told = errors.len();
            errors.extend(rule.errors.iter().map(|fault| RuleError {
                rule: Some(at),
                name: rule.name.clone(),
                field: fault.field.clone(),
                message: fault.message.clone(),
                position: None,
                place: fault.place,
            }));
            while let Some(mut error) = checked.next_if(|error| error.rule == Some(at)) {
                // A value that stands in for a wrong one may be wrong, too. If the rule is not an
                // object, all of its values are stand-ins.
                let mut known = errors[told..].iter().map(|known| &known.field);
                if known.all(|known| !known.is_empty() && *known != error.field) {
                    error.place = rule.place_of(&error.field);
                    errors.push(error);
                }
            }
        }
        errors.extend(of_group);
        RuleErrors::of(errors, cut)
    }

    /// Without limits, for callers that delay nobody else.
    pub fn all_errors(self) -> RuleErrors {
        let limits = Limits {
            time: Duration::MAX,
            ..Limits::default()
        };
        self.errors(limits, &|| Duration::ZERO)
    }
}

impl InputRules {
    /// What compiling finds, in the order of the rules. Takes the contents of the rules, and leaves
    /// their names.
    fn check(&mut self, limits: Limits, clock: &dyn Fn() -> Duration) -> ErrorList {
        let mut errors = ErrorList::default();
        let nobody = RuleId::from(uuid::Uuid::nil());
        let mut rules = Vec::with_capacity(self.rules.len());
        let mut kindless = Vec::new();
        for (at, input) in self.rules.iter_mut().enumerate() {
            let rule = InputRule {
                name: input.name.clone(),
                enabled: input.enabled,
                exceptions: std::mem::take(&mut input.exceptions),
                kind: input.kind.take(),
                ..InputRule::default()
            };
            match rule.kind {
                Some(_) => rules.extend(rule.into_rule(nobody).map(|rule| (at, rule))),
                None => kindless.push((at, rule)),
            }
        }
        check_apart(&rules, &mut errors, limits, clock);
        for (at, rule) in &kindless {
            check_common(
                &rule.name,
                &rule.exceptions,
                &mut errors.of(*at, &rule.name),
            );
        }
        errors.sort();
        errors
    }
}
