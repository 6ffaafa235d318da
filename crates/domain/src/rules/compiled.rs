//! A rule group's version, compiled once and shared by all callers that examine content with it.

mod by_kind;
#[cfg(test)]
mod tests;

use std::time::Duration;

use self::by_kind::Parts;
use super::{
    MAX_NAME_CHARS, MAX_RULES, Rule, Violation,
    ai_threshold::Threshold,
    budget::{Limits, Meter},
    content_rule::{Exceptions, Finding, MAX_EXCEPTIONS},
    error::{NUL, RuleErrors},
    error_list::{ErrorList, RuleErrorList},
    image_hash::Recognition,
    keyword::{Keywords, check_term},
    link::Links,
    pattern::Patterns,
};
use crate::{
    id::{GroupVersionId, RuleGroupId},
    image_hash::HashMatch,
    score::{Category, Scores},
    text::Readings,
};

/// The content to examine.
#[derive(Debug, Clone, Copy)]
pub struct Content<'a> {
    /// The text, if there is one.
    pub text: Option<&'a str>,
    /// The result of the analysis; empty if none ran.
    pub scores: &'a Scores,
    /// The lists that the image is on; empty without an image.
    pub image_matches: &'a [HashMatch],
}

/// The compiled rules of one version of a group. Immutable; share it by `Arc`.
pub struct CompiledGroup {
    group: RuleGroupId,
    version: GroupVersionId,
    keywords: Keywords,
    patterns: Patterns,
    links: Links,
    /// Each with its place in the group.
    recognitions: Vec<(usize, Recognition)>,
    /// Each with its place in the group, too.
    thresholds: Vec<(usize, Threshold)>,
    categories: Vec<Category>,
}

impl CompiledGroup {
    /// Checks all rules, including disabled ones, and compiles the enabled ones. The group may take
    /// the default amount of memory, and as much time as it needs.
    ///
    /// # Errors
    /// Everything that is wrong with the rules, with its place.
    pub fn compile(
        group: RuleGroupId,
        version: GroupVersionId,
        rules: &[Rule],
    ) -> Result<Self, RuleErrors> {
        let limits = Limits {
            time: Duration::MAX,
            ..Limits::default()
        };
        Self::compile_within(group, version, rules, limits, &|| Duration::ZERO)
    }

    /// Like [`Self::compile`], within limits. `clock` returns the time that the compiling thread
    /// has used, counted from any start.
    ///
    /// During the build, memory can reach three times the limit. The time limit is exceeded by less
    /// than one piece of work: at most one automaton of the whole group.
    ///
    /// # Errors
    /// Everything that is wrong with the rules, with its place; or that they cost more than they
    /// may.
    pub fn compile_within(
        group: RuleGroupId,
        version: GroupVersionId,
        rules: &[Rule],
        limits: Limits,
        clock: &dyn Fn() -> Duration,
    ) -> Result<Self, RuleErrors> {
        let mut errors = ErrorList::default();
        if rules.len() > MAX_RULES {
            errors.group("rules", format!("a group has at most {MAX_RULES} rules"));
            return Err(errors.into_errors());
        }
        let mut meter = Meter::new(limits, clock);
        let places = rules.iter().enumerate();
        let compiled = Parts::check(places, &mut errors, &mut meter).and_then(|parts| {
            // Do not compile a group that has faulty rules.
            let parts = if errors.is_empty() {
                parts
            } else {
                Parts::default()
            };
            parts.compile(group, version, &mut meter)
        });
        if !errors.is_empty() {
            return Err(errors.into_errors());
        }
        compiled.map_err(|over| meter.refuse(over, rules))
    }

    /// The group.
    pub const fn group(&self) -> RuleGroupId {
        self.group
    }

    /// Its version.
    pub const fn version(&self) -> GroupVersionId {
        self.version
    }

    /// Whether any enabled rule asks for a score, so that an analysis must run.
    pub const fn uses_ai(&self) -> bool {
        !self.categories.is_empty()
    }

    /// The categories that enabled rules ask for, in document order.
    pub fn categories(&self) -> &[Category] {
        &self.categories
    }

    /// Whether any enabled rule looks at the text itself.
    pub const fn examines_text(&self) -> bool {
        !(self.keywords.is_empty() && self.patterns.is_empty() && self.links.is_empty())
    }

    /// Whether a list of any enabled rule contains the image. If none does, that says nothing about
    /// the image.
    pub fn recognises(&self, image_matches: &[HashMatch]) -> bool {
        self.recognitions
            .iter()
            .any(|(_, rule)| rule.knows(image_matches))
    }

    /// Whether an allow list of any enabled rule contains the image. Then its team knows the image,
    /// and does not need the opinion of others.
    pub fn allows(&self, image_matches: &[HashMatch]) -> bool {
        self.recognitions
            .iter()
            .any(|(_, rule)| rule.allows(image_matches))
    }

    /// What the content violates, in the order of the rules. Each rule has at most one violation.
    pub fn examine(&self, content: &Content<'_>) -> Vec<Violation> {
        let mut found: Vec<(usize, Violation)> = self
            .thresholds
            .iter()
            .filter_map(|(order, rule)| Some((*order, rule.examine(self.group, content.scores)?)))
            .collect();
        found.extend(self.recognitions.iter().filter_map(|(order, rule)| {
            Some((*order, rule.examine(self.group, content.image_matches)?))
        }));
        if let Some(text) = content.text.filter(|_| self.examines_text()) {
            let text = Readings::new(text);
            let mut exceptions = Exceptions::new();
            let mut report = |finding: Finding<'_>| {
                let order = finding.rule.order;
                found.push((order, finding.into_violation(self.group, text.original())));
            };
            self.keywords.examine(&text, &mut exceptions, &mut report);
            self.patterns.examine(&text, &mut exceptions, &mut report);
            self.links.examine(&text, &mut exceptions, &mut report);
        }
        found.sort_by_key(|(order, _)| *order);
        found.into_iter().map(|(_, violation)| violation).collect()
    }

    /// The memory it takes, in bytes, approximately: the weight for a bounded cache.
    pub fn approx_bytes(&self) -> usize {
        let names = |(_, threshold): &(usize, Threshold)| {
            size_of::<(usize, Threshold)>() + threshold.name.capacity()
        };
        let lists = |(_, recognition): &(usize, Recognition)| recognition.approx_bytes();
        size_of::<Self>()
            + self.keywords.approx_bytes()
            + self.patterns.approx_bytes()
            + self.links.approx_bytes()
            + self.thresholds.iter().map(names).sum::<usize>()
            + self.recognitions.iter().map(lists).sum::<usize>()
    }
}

/// Checks some rules of a group whose other rules are wrong, each with its place. If that takes too
/// long, the rest is not checked.
pub(super) fn check_apart(
    rules: &[(usize, Rule)],
    errors: &mut ErrorList,
    limits: Limits,
    clock: &dyn Fn() -> Duration,
) {
    let places = rules.iter().map(|(place, rule)| (*place, rule));
    // The group is refused for its wrong rules. The cost of the others is reported when these are
    // corrected.
    let _ = Parts::check(places, errors, &mut Meter::new(limits, clock));
}

/// Checks the members that every kind of rule has.
pub(crate) fn check_common(name: &str, exceptions: &[String], errors: &mut RuleErrorList<'_>) {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS {
        errors.add(
            "name",
            format!("must have 1 to {MAX_NAME_CHARS} characters"),
        );
    } else if name.contains('\0') {
        errors.add("name", NUL);
    }
    if exceptions.len() > MAX_EXCEPTIONS {
        errors.add(
            "exceptions",
            format!("must contain at most {MAX_EXCEPTIONS} terms"),
        );
    } else {
        for (at, term) in exceptions.iter().enumerate() {
            check_term(term, || format!("exceptions[{at}]"), errors);
        }
    }
}
