//! The decision: turns what the rules found, what the analysis said and what could not be checked
//! into a verdict.
//!
//! No item is approved because nobody checked it. A part of the content that no rule and no
//! provider examined counts as unchecked here, whatever the caller reports, and follows the site's
//! [`OnFailure`].

#[cfg(test)]
mod tests;
mod unchecked;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

pub use self::unchecked::{ImageProblem, MissingScores, Unchecked, Unscored};
use crate::{
    id::{GroupVersionId, RuleGroupId, RuleId},
    media::{ModerationType, OnFailure, Status},
    reason::Reason,
    rules::{Evidence, RuleEffect, Violation},
    score::{Category, Scores},
};

/// Decides. Any `reject` rejects. Otherwise, anything unchecked follows the site's setting, which
/// never hides a `review` that a rule requested. Otherwise, any `review` asks for a person.
/// Otherwise, the content is approved.
pub fn decide(findings: Findings<'_>) -> Verdict {
    let Findings {
        groups,
        violations,
        scores,
        wanted,
        gaps,
        text,
        image,
        mut unchecked,
        on_failure,
    } = findings;
    for missing in gaps {
        missing.add_unchecked(wanted, &mut unchecked);
    }
    if text == Part::Unexamined {
        unchecked.push(Unchecked::TextNotExamined);
    }
    if image == Part::Unexamined && !unchecked.iter().any(Unchecked::concerns_image) {
        unchecked.push(Unchecked::ImageNotExamined);
    }

    let asks = |effect| {
        violations
            .iter()
            .any(|violation| violation.effect == effect)
    };
    let unsure = (!unchecked.is_empty()).then_some(on_failure);
    let (status, deciding) = match (asks(RuleEffect::Reject), unsure, asks(RuleEffect::Review)) {
        (true, _, _) => (Status::Rejected, Some(RuleEffect::Reject)),
        (false, Some(OnFailure::Reject), _) => (Status::Rejected, None),
        (false, _, true) => (Status::PendingReview, Some(RuleEffect::Review)),
        (false, Some(OnFailure::Review), false) => (Status::PendingReview, None),
        (false, Some(OnFailure::Approve) | None, false) => (Status::Approved, None),
    };

    let by_content_rule = violations
        .iter()
        .any(|violation| Some(violation.effect) == deciding && violation.rule_type.is_content());
    let moderation_type = if by_content_rule || scores.is_none() {
        ModerationType::Rule
    } else {
        ModerationType::Ai
    };
    let reason = reason(deciding, &violations, &unchecked);
    let flagged_categories = match status {
        Status::PendingReview => flagged(&violations),
        Status::Pending | Status::Approved | Status::Rejected => Vec::new(),
    };
    let unscored_of = (!gaps.is_empty()).then(|| Unscored::of(gaps, wanted));
    let trace = Trace {
        groups,
        evidence: violations.iter().map(TracedViolation::from).collect(),
        unscored: match &unscored_of {
            Some(told_apart) => told_apart.all(),
            None => unscored(wanted, scores.as_ref(), &unchecked),
        },
        unscored_of,
        unchecked,
    };
    Verdict {
        status,
        moderation_type,
        violations,
        ai_analysis: scores,
        flagged_categories,
        reason,
        trace,
    }
}

fn flagged(violations: &[Violation]) -> Vec<Category> {
    Category::ALL
        .into_iter()
        .filter(|category| {
            violations
                .iter()
                .any(|violation| match &violation.evidence {
                    Evidence::Score {
                        category: scored, ..
                    } => scored == category,
                    Evidence::Text { .. } | Evidence::Hash { .. } => false,
                })
        })
        .collect()
}

fn unscored(
    wanted: &[Category],
    scores: Option<&Scores>,
    unchecked: &[Unchecked],
) -> Vec<Category> {
    let failed = |unchecked: &Unchecked| matches!(unchecked, Unchecked::ProviderFailed { .. });
    if scores.is_none() && unchecked.iter().any(failed) {
        // The failed provider could have scored them.
        return Vec::new();
    }
    let is_scored = |category| scores.is_some_and(|scores| scores.get(category).is_some());
    wanted
        .iter()
        .copied()
        .filter(|category| !is_scored(*category))
        .collect()
}

/// What became of one part of the content, its text or its image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The content has no such part.
    Absent,
    /// At least one content rule or one provider looked at it.
    Examined,
    /// Nothing looked at it.
    Unexamined,
}

/// Everything that a decision rests on.
#[derive(Debug, Clone)]
pub struct Findings<'a> {
    /// The groups that apply, as they judged.
    pub groups: Vec<Judged>,
    /// Their violations, in the order of groups and rules.
    pub violations: Vec<Violation>,
    /// What the analysis said; `None` when none ran.
    pub scores: Option<Scores>,
    /// The categories that the groups' rules ask for. Those without a score are listed in the
    /// trace.
    pub wanted: &'a [Category],
    /// What the analysis could not score of the text and of the image; empty if that is not known.
    pub gaps: &'a [MissingScores],
    /// Whether the text was looked at.
    pub text: Part,
    /// Whether the image was looked at.
    pub image: Part,
    /// What could not be checked, as far as the caller knows. An unexamined part does not have to
    /// be listed here.
    pub unchecked: Vec<Unchecked>,
    /// The site's setting for unchecked content.
    pub on_failure: OnFailure,
}

/// The version of a rule group that judged, and the time it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The group.
    pub group: RuleGroupId,
    /// The version that was live when the content was accepted.
    pub version: GroupVersionId,
    /// How long its rules took, in microseconds.
    pub micros: u64,
}

/// What the machine found, read from the `moderation_details` of its verdict.
#[derive(Debug, Default, Deserialize)]
pub struct Found {
    rule_violations: Option<Box<RawValue>>,
    ai_analysis: Option<Box<RawValue>>,
}

/// The contract's `moderation_details` of a person's decision: the reason, and what the machine had
/// found before.
#[derive(Debug, Serialize)]
pub struct ManualDetails<'a> {
    rule_violations: Violations<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ai_analysis: Option<&'a RawValue>,
    reason: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Violations<'a> {
    Found(&'a RawValue),
    None([(); 0]),
}

impl<'a> ManualDetails<'a> {
    /// The details of a person's decision.
    pub fn new(reason: &'a Reason, found: &'a Found) -> Self {
        Self {
            rule_violations: match &found.rule_violations {
                Some(violations) => Violations::Found(violations),
                None => Violations::None([]),
            },
            ai_analysis: found.ai_analysis.as_deref(),
            reason: reason.as_str(),
        }
    }
}

/// Which rules requested a review, and what was not checked. `None` if a rule rejects or everything
/// is in order.
fn reason(
    deciding: Option<RuleEffect>,
    violations: &[Violation],
    unchecked: &[Unchecked],
) -> Option<String> {
    if deciding == Some(RuleEffect::Reject) {
        return None;
    }
    let mut clauses = Vec::new();
    if deciding == Some(RuleEffect::Review) {
        let rules: Vec<_> = violations
            .iter()
            .map(|v| format!("`{}`", v.rule_name))
            .collect();
        clauses.push(format!("Review requested by {}", listed(&rules)));
    }
    if !unchecked.is_empty() {
        let parts: Vec<_> = unchecked.iter().map(ToString::to_string).collect();
        clauses.push(format!("Not checked: {}", parts.join("; ")));
    }
    (!clauses.is_empty()).then(|| clauses.join(". ") + ".")
}

/// "a, b and 3 more": keeps the reason to one readable line, however many rules match.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{} and {more} more", names[..SHOWN].join(", ")),
        Some(0) | None => names.join(", "),
    }
}

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
