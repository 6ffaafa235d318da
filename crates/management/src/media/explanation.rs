//! Why an item has its status: what is stored with a verdict and with the analysis, as values.

use domain::{
    decision::{Judged, TracedViolation, Unchecked, Unscored},
    id::RuleId,
    media::{ModerationType, OnFailure, Status},
    rules::{Evidence, RuleEffect, RuleType},
    score::{Category, Scores},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use store::media::{Analysis, Verdict};

pub use store::analysis::ProviderReport;

/// How a verdict came to be.
#[derive(Debug)]
pub struct Explanation {
    /// What the verdict rests on.
    pub ground: Ground,
    /// The rules that matched. A person's verdict has none.
    pub found: Vec<FoundRule>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// Categories that a rule asks for and that nothing could score, although no provider failed.
    pub unscored: Unscored,
    /// The highest score of each category.
    pub scores: Option<Scores>,
    /// The versions that judged, with the time that each took.
    pub groups: Vec<Judged>,
    /// From acceptance to verdict, in milliseconds.
    pub processing_time_ms: Option<u64>,
}

/// What a verdict rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ground {
    /// A person decided.
    Person {
        /// The name of the person or of the token. `None`: somebody at a command line.
        name: Option<String>,
        /// The reason, which the application can read.
        reason: String,
    },
    /// Rules with this effect matched.
    Rules(RuleEffect),
    /// Something could not be checked, and the site's setting decided.
    OnFailure(OnFailure),
    /// No rule matched, and everything was checked.
    Nothing,
    /// The rules could not be evaluated.
    NotEvaluated,
}

/// A rule that matched.
#[derive(Debug)]
pub struct FoundRule {
    /// The rule.
    pub id: RuleId,
    /// Its name when its version was published.
    pub name: String,
    /// Its kind.
    pub rule_type: RuleType,
    /// One sentence that contains nothing of the content.
    pub details: String,
    /// What it asked for. `None` if the trace lacks it.
    pub effect: Option<RuleEffect>,
    /// Where and why it matched. `None` if the trace lacks it.
    pub evidence: Option<Evidence>,
}

/// What the providers answered.
#[derive(Debug)]
pub struct Answers {
    /// The highest score of each category.
    pub scores: Option<Scores>,
    /// What each provider answered.
    pub providers: Vec<ProviderReport>,
}

/// How a verdict came to be. `None` if a newer version of Gatehouse stored it in a form that this one does not know.
pub fn of(verdict: &Verdict) -> Option<Explanation> {
    let details: Details = serde_json::from_str(verdict.details.get()).ok()?;
    let trace: Trace = serde_json::from_str(verdict.trace.get()).ok()?;
    let ground = ground(verdict, &details, &trace);
    let found = violations(verdict, &details)?.into_iter().enumerate();
    let traced = |place: usize, rule: RuleId| {
        let traced = trace.evidence.get(place);
        traced.filter(|traced| traced.rule_id == rule)
    };
    Some(Explanation {
        ground,
        found: found
            .map(|(place, violation)| {
                let traced = traced(place, violation.rule_id);
                FoundRule {
                    id: violation.rule_id,
                    name: violation.rule_name,
                    rule_type: violation.rule_type,
                    details: violation.details,
                    effect: traced.map(|traced| traced.effect),
                    evidence: traced.map(|traced| traced.evidence.clone()),
                }
            })
            .collect(),
        unchecked: trace.unchecked,
        unscored: trace.unscored_of.unwrap_or(Unscored {
            text: trace.unscored,
            image: Vec::new(),
        }),
        scores: details.ai_analysis,
        groups: trace.groups,
        processing_time_ms: details.processing_time_ms,
    })
}

/// What the providers answered. `None` if a newer version of Gatehouse stored it in a form that this one does not know.
pub fn answers(analysis: &Analysis) -> Option<Answers> {
    let scores = analysis.scores.as_ref();
    let scores = scores.map(|scores| serde_json::from_str(scores.get()));
    Some(Answers {
        scores: scores.transpose().ok()?,
        providers: serde_json::from_str(analysis.providers.get()).ok()?,
    })
}

/// A person's verdict repeats what the machine had found, which can be thousands of rules.
fn violations(verdict: &Verdict, details: &Details) -> Option<Vec<Violation>> {
    match (&details.rule_violations, verdict.moderation_type) {
        (None, _) | (_, ModerationType::Manual) => Some(Vec::new()),
        (Some(found), ModerationType::Ai | ModerationType::Rule) => {
            serde_json::from_str(found.get()).ok()
        }
    }
}

/// The trace does not name what decided, but it follows from the rules of `domain::decision`.
fn ground(verdict: &Verdict, details: &Details, trace: &Trace) -> Ground {
    if verdict.moderation_type == ModerationType::Manual {
        let moderator = trace.moderator.as_ref();
        return Ground::Person {
            name: moderator.and_then(|who| who.member_name.clone().or(who.token_name.clone())),
            reason: details.reason.clone().unwrap_or_default(),
        };
    }
    if trace.cause.is_some() {
        return Ground::NotEvaluated;
    }
    let asked = |effect| trace.evidence.iter().any(|traced| traced.effect == effect);
    let unchecked = !trace.unchecked.is_empty();
    match verdict.status {
        Status::Rejected if asked(RuleEffect::Reject) => Ground::Rules(RuleEffect::Reject),
        Status::PendingReview if asked(RuleEffect::Review) => Ground::Rules(RuleEffect::Review),
        Status::Rejected if unchecked => Ground::OnFailure(OnFailure::Reject),
        Status::PendingReview if unchecked => Ground::OnFailure(OnFailure::Review),
        Status::Approved if unchecked => Ground::OnFailure(OnFailure::Approve),
        Status::Pending | Status::Rejected | Status::PendingReview | Status::Approved => {
            Ground::Nothing
        }
    }
}

/// `moderation_details`.
#[derive(Deserialize)]
struct Details {
    rule_violations: Option<Box<RawValue>>,
    ai_analysis: Option<Scores>,
    reason: Option<String>,
    processing_time_ms: Option<u64>,
}

#[derive(Deserialize)]
struct Violation {
    rule_id: RuleId,
    rule_name: String,
    rule_type: RuleType,
    details: String,
}

/// The trace of the machine's verdict, of a person's, or of one whose job died.
#[derive(Deserialize)]
struct Trace {
    #[serde(default)]
    groups: Vec<Judged>,
    #[serde(default)]
    evidence: Vec<TracedViolation>,
    #[serde(default)]
    unchecked: Vec<Unchecked>,
    #[serde(default)]
    unscored: Vec<Category>,
    unscored_of: Option<Unscored>,
    moderator: Option<Moderator>,
    cause: Option<String>,
}

#[derive(Deserialize)]
struct Moderator {
    member_name: Option<String>,
    token_name: Option<String>,
}

#[cfg(test)]
mod tests;
