//! A verdict, and everything that is reported about it.

use serde::{Deserialize, Serialize};

use super::findings::Judged;
use super::{Unchecked, Unscored};
use crate::id::RuleId;
use crate::media::{ModerationType, Status};
use crate::rules::{Evidence, RuleEffect, Violation};
use crate::score::{Category, Scores};

/// A decision, with everything that is reported about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// `approved`, `rejected` or `pending_review`; never `pending`.
    pub status: Status,
    /// What decided: rules or an analysis, never a person.
    pub moderation_type: ModerationType,
    /// All violations, of both effects.
    pub violations: Vec<Violation>,
    /// The analysis, if one ran.
    pub ai_analysis: Option<Scores>,
    /// With `pending_review`: the categories at or over a review threshold, in document order.
    pub flagged_categories: Vec<Category>,
    /// Present with `pending_review`, and whenever something unchecked decided.
    pub reason: Option<String>,
    /// How the verdict came about.
    pub trace: Trace,
}

/// How a verdict came about, for moderators and appeals. Never sent to the tenant's application.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// Which rules were asked, and how long that took. The analysis stores its providers' reports
    /// itself.
    pub groups: Vec<Judged>,
    /// The evidence for each violation, in the order of the violations.
    pub evidence: Vec<TracedViolation>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// Categories that a rule asks for and that nothing could score, although no provider failed;
    /// of the text, the image or both.
    pub unscored: Vec<Category>,
    /// The same for text and image separately; `None` if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unscored_of: Option<Unscored>,
}

/// The part of a violation that only the trace contains.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracedViolation {
    /// The rule.
    pub rule_id: RuleId,
    /// What it asked for.
    pub effect: RuleEffect,
    /// Where and why it matched.
    pub evidence: Evidence,
}

/// The contract's `moderation_details`, borrowed from a verdict. Absent members are omitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModerationDetails<'a> {
    /// Every violated rule.
    pub rule_violations: &'a [Violation],
    /// Scores by category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_analysis: Option<&'a Scores>,
    /// From acceptance to verdict, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_time_ms: Option<u64>,
    /// Why a person must look, or what was not checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// Categories at or over their review threshold.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub flagged_categories: &'a [Category],
    /// The kinds of things that were not checked, each once ([`Unchecked::what`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<&'static str>,
}

impl Verdict {
    /// The details for events and status answers. `processing_time_ms` is the time from acceptance
    /// to verdict.
    pub fn details(&self, processing_time_ms: Option<u64>) -> ModerationDetails<'_> {
        let mut unchecked = Vec::new();
        for what in self.trace.unchecked.iter().map(Unchecked::what) {
            if !unchecked.contains(&what) {
                unchecked.push(what);
            }
        }
        ModerationDetails {
            rule_violations: &self.violations,
            ai_analysis: self.ai_analysis.as_ref(),
            processing_time_ms,
            reason: self.reason.as_deref(),
            flagged_categories: &self.flagged_categories,
            unchecked,
        }
    }
}

impl From<&Violation> for TracedViolation {
    fn from(violation: &Violation) -> Self {
        Self {
            rule_id: violation.rule_id,
            effect: violation.effect,
            evidence: violation.evidence.clone(),
        }
    }
}
