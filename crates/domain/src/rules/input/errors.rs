//! Rules that have mistakes, and the list of the mistakes.

use std::time::Duration;

use super::{InputRule, InputRules};
use crate::id::RuleId;
use crate::rules::compiled::{check_apart, check_common};
use crate::rules::error::{RuleError, RuleErrors};
use crate::rules::error_list::ErrorList;
use crate::rules::{Limits, MAX_RULES};

/// Rules that have mistakes.
#[derive(Debug)]
pub struct WrongRules(pub(super) InputRules);

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
