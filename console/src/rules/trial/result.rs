//! What rules say about a text, as people read it.

use domain::{
    media::Status,
    rules::{Evidence, View, Violation},
};
use management::rule_groups::trials::Trial;

use crate::{rules::row::effect, visible_text::truncate};

/// Rules that are listed.
const MATCHES: usize = 100;
/// Characters of a match that are shown.
const MATCH_CHARS: usize = 200;

/// What a set of rules says.
pub(super) struct Said {
    pub(super) status: Status,
    pub(super) tone: &'static str,
    pub(super) reason: Option<String>,
    pub(super) matches: Vec<Match>,
    /// How many more rules match.
    pub(super) more: usize,
    /// Categories that rules ask for and that have no score.
    pub(super) unscored: String,
}

/// A rule that matches.
pub(super) struct Match {
    pub(super) rule: String,
    pub(super) kind: &'static str,
    pub(super) effect: (&'static str, &'static str),
    /// The text that was matched.
    pub(super) text: Option<String>,
    /// How it was matched.
    pub(super) how: String,
}

impl Said {
    pub(super) fn new(trial: &Trial, text: &str) -> Self {
        let matches = trial.violations.iter().take(MATCHES);
        let unscored = trial.unscored.iter().map(ToString::to_string);
        Self {
            status: trial.status,
            tone: tone(trial.status),
            reason: trial.reason.clone(),
            matches: matches
                .map(|violation| Match::new(violation, text))
                .collect(),
            more: trial.violations.len().saturating_sub(MATCHES),
            unscored: unscored.collect::<Vec<_>>().join(", "),
        }
    }
}

/// The tone of a status.
pub(in crate::rules) const fn tone(status: Status) -> &'static str {
    match status {
        Status::Approved => "ok",
        Status::Rejected => "no",
        Status::PendingReview => "warn",
        Status::Pending => "",
    }
}

impl Match {
    fn new(violation: &Violation, text: &str) -> Self {
        let (matched, how) = match &violation.evidence {
            Evidence::Text { view, span, .. } => {
                let matched = text.get(span.clone()).unwrap_or_default();
                let how = match view {
                    View::Original => "as it was written",
                    View::Folded => "whatever its case, accents and look-alikes",
                    View::Loose => {
                        "in disguise: digits for letters, spelled-out or stretched words"
                    }
                };
                (Some(truncate(matched, MATCH_CHARS)), how.to_owned())
            }
            Evidence::Score {
                category,
                score,
                threshold,
                ..
            } => (
                None,
                format!("{category} {score:.2}, threshold {threshold}"),
            ),
            Evidence::Hash { distance, .. } => (None, format!("{distance} of 256 bits differ")),
        };
        Self {
            rule: violation.rule_name.clone(),
            kind: violation.rule_type.as_str(),
            effect: effect(violation.effect),
            text: matched,
            how,
        }
    }
}
