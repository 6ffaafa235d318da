//! Rules as their authors give them, read leniently: a mistake does not end the reading, so that all mistakes are told at once,
//! each with its place. Only rules without a mistake become [`Rule`]s.

mod kind;
mod member;
mod read;

use std::collections::HashMap;
use std::time::Duration;

use super::compiled::{check_apart, check_common};
use super::error::{Faults, Place, RuleError, RuleErrors};
use super::{Limits, MAX_RULES, Rule, RuleKind};
use crate::id::RuleId;

pub(crate) use member::{Given, InYaml, Member, Placing, Unplaced, unknown_member};
pub(crate) use read::RulesReader;

/// The rules of a group as a request or a file gives them, right or wrong.
#[derive(Debug, Default)]
pub struct GivenRules {
    rules: Vec<GivenRule>,
    /// How many there are, also those that were not kept because there are too many.
    count: usize,
    /// Mistakes outside of the rules.
    faults: Vec<RuleError>,
    /// There were so many mistakes that the rest was not looked at.
    cut: bool,
}

/// A rule. What is wrong in it has a harmless value, so that the rest can be checked.
#[derive(Debug, Default)]
struct GivenRule {
    id: Option<RuleId>,
    name: String,
    enabled: bool,
    exceptions: Vec<String>,
    /// None where nobody knows of what kind it is to be; then it has a fault.
    kind: Option<RuleKind>,
    faults: Vec<MemberFault>,
    /// Where it begins, and where its members stand, if it comes from a file.
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

/// Rules that have mistakes.
#[derive(Debug)]
pub struct WrongRules(GivenRules);

impl GivenRules {
    /// The rules. Those without an id get one from `fresh`.
    ///
    /// # Errors
    /// There are mistakes: [`WrongRules::errors`] tells them. What can only be found by compiling is not one of them here.
    pub fn into_rules(
        mut self,
        mut fresh: impl FnMut() -> RuleId,
    ) -> Result<Vec<Rule>, WrongRules> {
        self.find_twins();
        if self.count > MAX_RULES {
            self.add_fault("rules", format!("must contain at most {MAX_RULES} rules"), None);
        }
        if !self.faults.is_empty() || self.cut || self.rules.iter().any(GivenRule::is_wrong) {
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

    /// What the rules are called, in their order; empty where a rule has no name. For whoever tells their mistakes.
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
        if self.faults.len() >= RuleErrors::MOST {
            self.cut = true;
            return;
        }
        self.faults.push(RuleError {
            rule: None,
            name: String::new(),
            field: field.to_owned(),
            message: message.into(),
            position: None,
            place,
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

impl GivenRule {
    const fn is_wrong(&self) -> bool {
        !self.faults.is_empty() || self.kind.is_none()
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

    /// A mistake at a place; without one, where the member stands.
    fn add_fault(
        &mut self,
        field: impl Into<String>,
        message: impl Into<String>,
        place: Option<Place>,
    ) {
        let field = field.into();
        // One more than are listed shows that there are more.
        if self.faults.len() <= RuleErrors::MOST {
            self.faults.push(MemberFault {
                place: place.or_else(|| self.place_of(&field)),
                field,
                message: message.into(),
            });
        }
    }

    /// Where a member stands: a list's, for one of its items.
    fn place_of(&self, field: &str) -> Option<Place> {
        let member = field.split('[').next().unwrap_or_default();
        let found = self.places.iter().find(|(name, _)| *name == member);
        found.map(|(_, place)| *place).or(self.place)
    }
}

impl WrongRules {
    /// Everything that is wrong: also what compiling finds in the rules and members that could be read, within limits. `clock`
    /// tells the time that the thread has used, from any start.
    pub fn errors(self, limits: Limits, clock: &dyn Fn() -> Duration) -> RuleErrors {
        let Self(mut given) = self;
        let found = if given.count > MAX_RULES {
            Faults::default()
        } else {
            given.check(limits, clock)
        };
        let GivenRules {
            rules,
            faults: outside,
            cut,
            ..
        } = given;
        let mut errors = outside;
        let (of_rules, of_group): (Vec<_>, Vec<_>) = found
            .into_errors()
            .into_iter()
            .partition(|error| error.rule.is_some());
        let mut checked = of_rules.into_iter().peekable();
        for (at, rule) in rules.into_iter().enumerate() {
            let told = errors.len();
            errors.extend(rule.faults.iter().map(|fault| RuleError {
                rule: Some(at),
                name: rule.name.clone(),
                field: fault.field.clone(),
                message: fault.message.clone(),
                position: None,
                place: fault.place,
            }));
            while let Some(mut error) = checked.next_if(|error| error.rule == Some(at)) {
                // A value that stands in for a wrong one may be wrong in its turn, and what is no rule at all has only such values.
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

    /// Without limits: for who waits for nobody else.
    pub fn all_errors(self) -> RuleErrors {
        let limits = Limits {
            time: Duration::MAX,
            ..Limits::default()
        };
        self.errors(limits, &|| Duration::ZERO)
    }
}

impl GivenRules {
    /// What compiling finds, in the order of the rules. Takes the rules' contents away, and leaves their names.
    fn check(&mut self, limits: Limits, clock: &dyn Fn() -> Duration) -> Faults {
        let mut faults = Faults::default();
        let nobody = RuleId::from(uuid::Uuid::nil());
        let mut rules = Vec::with_capacity(self.rules.len());
        let mut kindless = Vec::new();
        for (at, given) in self.rules.iter_mut().enumerate() {
            let rule = GivenRule {
                name: given.name.clone(),
                enabled: given.enabled,
                exceptions: std::mem::take(&mut given.exceptions),
                kind: given.kind.take(),
                ..GivenRule::default()
            };
            match rule.kind {
                Some(_) => rules.extend(rule.into_rule(nobody).map(|rule| (at, rule))),
                None => kindless.push((at, rule)),
            }
        }
        check_apart(&rules, &mut faults, limits, clock);
        for (at, rule) in &kindless {
            check_common(
                &rule.name,
                &rule.exceptions,
                &mut faults.of(*at, &rule.name),
            );
        }
        faults.sort();
        faults
    }
}
