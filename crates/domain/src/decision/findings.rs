//! Everything that a decision rests on.

use serde::{Deserialize, Serialize};

use super::{MissingScores, Unchecked};
use crate::id::{GroupVersionId, RuleGroupId};
use crate::media::OnFailure;
use crate::rules::Violation;
use crate::score::{Category, Scores};

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
