//! A rule in one line of a table: what it looks for, what follows, and how many items it matched in the last days.

use std::collections::HashSet;

use domain::{
    id::{RuleGroupId, RuleId},
    rule_diff::Difference,
    rules::{LinkPolicy, Rule, RuleEffect, RuleKind},
    scope::Scope,
};
use management::{
    Caller, Refused,
    statistics::{self, GroupMatches},
};

use super::names::Lists;
use crate::{number::grouped, page::Frame, visible_text::truncate};

/// Terms that are shown of a rule.
const TERMS: usize = 3;
/// Characters of a term that are shown.
const TERM_CHARS: usize = 60;

/// A rule in a table.
pub(super) struct Row {
    /// Its place, from 0.
    pub(super) place: usize,
    pub(super) id: RuleId,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) is_on: bool,
    /// What the terms are, if that is not plain.
    pub(super) meaning: &'static str,
    pub(super) terms: Vec<String>,
    pub(super) more: usize,
    pub(super) scale: Option<Scale>,
    /// The effects: their names and tones.
    pub(super) effects: Vec<(&'static str, &'static str)>,
    /// How it differs from the live version: the words and their tone.
    pub(super) state: Option<(&'static str, &'static str)>,
    /// How many items it matched lately; none if that is not counted.
    pub(super) hits: Option<String>,
}

/// The thresholds on a score.
pub(super) struct Scale {
    pub(super) review: Option<f64>,
    pub(super) reject: Option<f64>,
}

impl Scale {
    /// Where review begins in the picture, in hundredths.
    pub(super) fn review_x(&self) -> Option<f64> {
        self.review.map(hundredths)
    }

    /// Where rejection begins in the picture, in hundredths.
    pub(super) fn reject_x(&self) -> Option<f64> {
        self.reject.map(hundredths)
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let parts = [("review from", self.review), ("reject from", self.reject)];
        let parts: Vec<String> = parts
            .into_iter()
            .filter_map(|(what, at)| Some(format!("{what} {}", at?)))
            .collect();
        parts.join(", ")
    }
}

fn hundredths(threshold: f64) -> f64 {
    (threshold * 100.0).clamp(0.0, 100.0)
}

/// The name and the tone of an effect.
pub(super) const fn effect(effect: RuleEffect) -> (&'static str, &'static str) {
    match effect {
        RuleEffect::Reject => ("reject", "no"),
        RuleEffect::Review => ("review", "warn"),
    }
}

impl Row {
    pub(super) fn of(place: usize, rule: &Rule, lists: &Lists) -> Self {
        let mut row = Self {
            place,
            id: rule.id,
            name: rule.name.clone(),
            kind: rule.kind.rule_type().as_str(),
            is_on: rule.enabled,
            meaning: "",
            terms: Vec::new(),
            more: 0,
            scale: None,
            effects: Vec::new(),
            state: None,
            hits: None,
        };
        match &rule.kind {
            RuleKind::Keyword(keyword) => {
                row.name_terms(&keyword.keywords);
                row.effects = vec![effect(keyword.effect)];
            }
            RuleKind::Regex(pattern) => {
                row.name_terms(std::slice::from_ref(&pattern.pattern));
                row.effects = vec![effect(pattern.effect)];
            }
            RuleKind::Link(link) => {
                row.meaning = match link.policy {
                    LinkPolicy::Deny => "links to",
                    LinkPolicy::Allow if link.domains.is_empty() => "any link",
                    LinkPolicy::Allow => "links to others than",
                };
                row.name_terms(&link.domains);
                row.effects = vec![effect(link.effect)];
            }
            RuleKind::ImageHash(known) => {
                let names = known.lists.iter().take(TERMS);
                let names: Vec<String> = names.map(|list| lists.name(*list)).collect();
                row.meaning = "images on";
                row.name_terms(&names);
                row.more = known.lists.len().saturating_sub(TERMS);
                row.effects = vec![effect(known.effect)];
            }
            RuleKind::AiThreshold(threshold) => {
                row.terms = vec![threshold.category.to_string()];
                row.scale = Some(Scale {
                    review: threshold.review_at,
                    reject: threshold.reject_at,
                });
                let review = threshold.review_at.map(|_| effect(RuleEffect::Review));
                let reject = threshold.reject_at.map(|_| effect(RuleEffect::Reject));
                row.effects = review.into_iter().chain(reject).collect();
            }
        }
        row
    }

    fn name_terms(&mut self, terms: &[String]) {
        let shown = terms.iter().take(TERMS);
        self.terms = shown.map(|term| truncate(term, TERM_CHARS)).collect();
        self.more = terms.len().saturating_sub(TERMS);
    }
}

/// Whether a name or a term of the rule contains this text, whatever its case.
pub(super) fn mentions(rule: &Rule, wanted: &str, lists: &Lists) -> bool {
    let wanted = wanted.to_lowercase();
    let has = |text: &str| text.to_lowercase().contains(&wanted);
    if has(&rule.name) || rule.exceptions.iter().any(|term| has(term)) {
        return true;
    }
    match &rule.kind {
        RuleKind::Keyword(keyword) => keyword.keywords.iter().any(|term| has(term)),
        RuleKind::Regex(pattern) => has(&pattern.pattern),
        RuleKind::Link(link) => link.domains.iter().any(|domain| has(domain)),
        RuleKind::ImageHash(known) => known.lists.iter().any(|list| has(&lists.name(*list))),
        RuleKind::AiThreshold(threshold) => has(threshold.category.as_str()),
    }
}

/// How the rules of a draft differ from the live version.
pub(super) struct States {
    added: HashSet<RuleId>,
    changed: HashSet<RuleId>,
    moved: HashSet<RuleId>,
}

impl States {
    pub(super) fn of(difference: &Difference) -> Self {
        Self {
            added: difference.added.iter().map(|rule| rule.id).collect(),
            changed: difference.changed.iter().map(|(_, to)| to.id).collect(),
            moved: difference.moved.iter().copied().collect(),
        }
    }

    /// Whether the live version does not have the rule.
    pub(super) fn is_new(&self, rule: RuleId) -> bool {
        self.added.contains(&rule)
    }

    pub(super) fn state(&self, rule: RuleId) -> Option<(&'static str, &'static str)> {
        if self.added.contains(&rule) {
            Some(("new", "ok"))
        } else if self.changed.contains(&rule) {
            Some(("changed", "warn"))
        } else if self.moved.contains(&rule) {
            Some(("moved", ""))
        } else {
            None
        }
    }
}

/// Days that are counted, today included.
const DAYS: u32 = 7;

/// The hits of a group's rules; none if the person may not know them.
pub(super) struct Hits(Option<GroupMatches>);

/// The hits of the last days.
pub(super) async fn hits_of(
    caller: &Caller,
    frame: &Frame,
    group: RuleGroupId,
) -> Result<Hits, Refused> {
    if !frame.may(Scope::MediaRead) {
        return Ok(Hits(None));
    }
    let found = statistics::of_group(caller, group, DAYS).await?;
    Ok(Hits(Some(found)))
}

impl Hits {
    /// The hits of a rule in words; none if they are not known. A rule that is only in the draft has none.
    pub(super) fn of_rule(&self, rule: RuleId, is_new: bool) -> Option<String> {
        let Self(found) = self;
        let found = found.as_ref().filter(|_| !is_new)?;
        match (found.rules.get(&rule), found.is_complete) {
            (Some(hits), true) => Some(grouped(*hits)),
            (Some(hits), false) => Some(format!("at least {}", grouped(*hits))),
            (None, true) => Some("0".to_owned()),
            (None, false) => None,
        }
    }

    /// Whether some matches are not counted by rule.
    pub(super) fn is_incomplete(&self) -> bool {
        let Self(found) = self;
        found.as_ref().is_some_and(|found| !found.is_complete)
    }
}
