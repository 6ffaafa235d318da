//! What all rules that look at the content itself share: exceptions, and how they report a match.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::budget::{Meter, Over};
use super::{Evidence, Rule, RuleEffect, RuleType, View, Violation};
use crate::id::{RuleGroupId, RuleId};
use crate::text::{Folded, Readings, mask, trie_states};

/// The most exceptions of a rule.
pub const MAX_EXCEPTIONS: usize = 1_000;
/// The most matches of one text that are compared with exceptions. Only a text that was made to
/// cost time needs more. A match over this limit counts, because it cannot be excused.
const MAX_EXCUSES: usize = 100_000;

/// The compiled common part of a content rule.
pub(super) struct ContentRule {
    /// Its place in the group.
    pub(super) order: usize,
    id: RuleId,
    name: String,
    effect: RuleEffect,
    /// Finds the exceptions on the folded reading; `None` if there are none.
    exceptions: Option<AhoCorasick>,
}

impl ContentRule {
    /// Of an enabled rule; `None` for a disabled one.
    pub(super) fn new(
        order: usize,
        rule: &Rule,
        effect: RuleEffect,
        meter: &mut Meter<'_>,
    ) -> Result<Option<Self>, Over> {
        // With more exceptions, the group is refused.
        if !rule.enabled || rule.exceptions.len() > MAX_EXCEPTIONS {
            return Ok(None);
        }
        let exceptions = (!rule.exceptions.is_empty())
            .then(|| {
                let folded: Vec<_> = rule
                    .exceptions
                    .iter()
                    .map(|term| Folded::new(term))
                    .collect();
                let terms = || folded.iter().map(|term| term.text().trim());
                meter.check_states(trie_states(terms()), &[(order, 1)])?;
                // Another kind of automaton would take a hundred times as much memory for a few
                // long terms.
                AhoCorasick::builder()
                    .match_kind(MatchKind::Standard)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(terms())
                    .map_err(|_| meter.full())
            })
            .transpose()?;
        let rule = Self {
            order,
            id: rule.id,
            name: rule.name.clone(),
            effect,
            exceptions,
        };
        meter.charge(order, rule.approx_bytes())?;
        Ok(Some(rule))
    }

    pub(super) fn approx_bytes(&self) -> usize {
        size_of::<Self>()
            + self.name.capacity()
            + self
                .exceptions
                .as_ref()
                .map_or(0, AhoCorasick::memory_usage)
    }
}

/// Excuses matches while one text is examined.
pub(super) struct Exceptions {
    left: usize,
}

impl Exceptions {
    pub(super) const fn new() -> Self {
        Self { left: MAX_EXCUSES }
    }

    /// Whether a match lies completely inside an exception of its rule. `at` are bytes of the
    /// folded reading.
    pub(super) fn excuse(
        &mut self,
        rule: &ContentRule,
        text: &Readings<'_>,
        at: &Range<usize>,
    ) -> bool {
        let Some(search) = &rule.exceptions else {
            return false;
        };
        let Some(left) = self.left.checked_sub(1) else {
            return false;
        };
        self.left = left;
        // Only an exception that begins and ends within this distance can contain the match.
        let bytes = text.folded().text().as_bytes();
        let longest = search.max_pattern_len();
        let start = at.end.saturating_sub(longest);
        let end = bytes.len().min(at.start.saturating_add(longest));
        start <= at.start
            && at.end <= end
            && search
                .find_overlapping_iter(&bytes[start..end])
                .any(|found| start + found.start() <= at.start && at.end <= start + found.end())
    }
}

/// A match of a content rule.
pub(super) struct Finding<'a> {
    pub(super) rule: &'a ContentRule,
    pub(super) rule_type: RuleType,
    pub(super) view: View,
    /// Bytes of the original text, on character boundaries.
    pub(super) span: Range<usize>,
    pub(super) details: &'static str,
}

impl Finding<'_> {
    pub(super) fn into_violation(self, group: RuleGroupId, original: &str) -> Violation {
        Violation {
            rule_id: self.rule.id,
            rule_name: self.rule.name.clone(),
            rule_type: self.rule_type,
            effect: self.rule.effect,
            confidence: 1.0,
            details: self.details.to_owned(),
            matched_text: Some(mask(&original[self.span.clone()])),
            evidence: Evidence::Text {
                group,
                view: self.view,
                span: self.span,
            },
        }
    }
}
