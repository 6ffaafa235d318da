//! How a sample is judged.

use std::time::Instant;

use domain::{
    decision::{Findings, Judged, Part, Unchecked, Verdict, decide},
    media::OnFailure,
    rules::{CompiledGroup, Content, Rule, RuleKind},
    score::{Category, Scores},
    submission::{Fault, SubmissionLimits},
};
use serde_json::value::to_raw_value;

use super::{NewTrial, ScoresFrom, Trial};
use crate::{FieldFault, Refused};

/// Refuses a sample that could not be submitted.
pub(super) fn require_content(new: &NewTrial) -> Result<(), Refused> {
    let wrong = |fault, message: String| {
        let fault = FieldFault::Submission(fault);
        Err(Refused::field_of(fault, "text", message))
    };
    let text = new.text.as_deref().unwrap_or_default();
    if text.is_empty() && new.scores.is_none() {
        let message = "is missing: a sample has a text, or scores";
        return wrong(Fault::EmptySubmission, message.to_owned());
    }
    let most = SubmissionLimits::default().text;
    if text.len() > most {
        let message = format!("is {} bytes of UTF-8; the limit is {most}", text.len());
        return wrong(Fault::TextTooLarge, message);
    }
    Ok(())
}

/// The categories that enabled rules ask for.
pub(super) fn wanted(rules: &[Rule]) -> Vec<Category> {
    let asks = |category: Category| {
        rules.iter().any(|rule| match &rule.kind {
            RuleKind::AiThreshold(threshold) => rule.enabled && threshold.category == category,
            RuleKind::Keyword(_)
            | RuleKind::Regex(_)
            | RuleKind::Link(_)
            | RuleKind::ImageHash(_) => false,
        })
    };
    let categories = Category::ALL.into_iter();
    categories.filter(|category| asks(*category)).collect()
}

pub(super) fn judge(group: &CompiledGroup, sample: Sample) -> Result<Trial, Refused> {
    let Sample {
        text,
        scores,
        scores_from,
        unchecked,
        on_failure,
    } = sample;
    let content = Content {
        text: text.as_deref(),
        scores: &scores.unwrap_or_default(),
        image_matches: &[],
    };
    let begun = Instant::now();
    let violations = group.examine(&content);
    let judged = Judged {
        group: group.group(),
        version: group.version(),
        micros: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
    };
    let verdict = decide(Findings {
        groups: vec![judged],
        violations,
        scores,
        wanted: group.categories(),
        gaps: &[],
        text: match (&text, scores.is_some() || group.examines_text()) {
            (None, _) => Part::Absent,
            (Some(_), true) => Part::Examined,
            (Some(_), false) => Part::Unexamined,
        },
        image: Part::Absent,
        unchecked,
        on_failure,
    });
    let unscored = group.categories().iter().copied().filter(|category| {
        let scores = scores.as_ref();
        scores.is_none_or(|scores| scores.get(*category).is_none())
    });
    let details = to_raw_value(&verdict.details(None)).map_err(store::Error::from)?;
    let trace = to_raw_value(&verdict.trace).map_err(store::Error::from)?;
    let Verdict {
        status,
        moderation_type,
        violations,
        reason,
        ..
    } = verdict;
    Ok(Trial {
        status,
        moderation_type,
        details,
        trace,
        reason,
        violations,
        scores,
        scores_from,
        unscored: unscored.collect(),
        text,
    })
}

/// The content that rules judge.
#[derive(Clone)]
pub(super) struct Sample {
    pub(super) text: Option<String>,
    pub(super) scores: Option<Scores>,
    pub(super) scores_from: ScoresFrom,
    pub(super) unchecked: Vec<Unchecked>,
    pub(super) on_failure: OnFailure,
}
