//! The analysis step: what providers are asked about an item, and what they said of it.

mod failed;
mod load;
pub(crate) mod parts;
pub(crate) mod pieces;
mod record;

use std::{sync::Arc, time::Duration};

use domain::{
    decision::{ImageProblem, MissingScores, Unchecked},
    id::{GroupVersionId, MediaId, SiteId, TeamId},
    image_hash::HashMatch,
    media::{Modality, OnFailure},
    score::{Category, Scores},
};
use serde::{Deserialize, Serialize};

pub(crate) use self::record::record;
pub use self::{failed::AnalysisDied, load::loader, parts::Part, pieces::Piece};

/// A pending item's content, and which providers may see it.
#[derive(Clone, Debug)]
pub struct ToAnalyse {
    /// The item.
    pub media: MediaId,
    /// Its trace.
    pub trace: telemetry::trace::Context,
    /// Its team, which is the lane of its jobs.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image that can be analysed: its bytes are stored and could be read.
    pub has_picture: bool,
    /// The hash lists that its image is on.
    pub image_matches: Vec<HashMatch>,
    /// What judges it afterwards.
    pub group_versions: Vec<GroupVersionId>,
    /// The versions that judge it without effect, each instead of its group's live version.
    pub shadows: Vec<GroupVersionId>,
    /// The site's setting for content that could not be checked.
    pub on_failure: OnFailure,
    /// Whether it was submitted with an image, even one that cannot be analysed.
    pub has_image: bool,
    /// Why its image cannot be analysed; none if it can.
    pub image_problem: Option<ImageProblem>,
    /// Whether the rules must judge it in a job of their own: their queue is paused, or the team is
    /// paused or has a cap in that queue.
    pub rules_are_held: bool,
    /// The categories that its rules ask for. Empty: this is not known, and the rules may ask for
    /// any.
    pub wanted: Vec<Category>,
    /// The providers that its site prefers, in their order; none: the operator's.
    pub preferred: Option<Vec<String>>,
    /// What its site tells models that judge by a policy.
    pub policy: Option<Arc<str>>,
    /// How long a provider's answer is reused for equal texts of its site; none: never.
    pub answers_hold: Option<Duration>,
    /// What was found so far.
    pub parts: Vec<Part>,
    /// What was found so far of pieces of its text, and of frames of its image.
    pub pieces: Vec<Piece>,
    /// How long ago it was accepted, by Postgres's clock.
    pub age: Duration,
}

/// What one provider answered, as it is stored in the trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProviderReport {
    /// The provider's name.
    pub provider: String,
    /// What it was shown.
    #[serde(default)]
    pub modality: Modality,
    /// Its scores, mapped to our categories; empty if it failed.
    pub scores: Scores,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Why it failed for good, in one word; none if it did not fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Why it was not shown all of the image; none if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unseen: Option<ImageProblem>,
    /// The stored part of its answer; none if the answer tells nothing more than the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The item with an equal text that the provider was asked about; none if it was asked about
    /// this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_from: Option<MediaId>,
}

/// A complete analysis.
#[derive(Debug)]
pub struct Analysed {
    /// The item.
    pub media: MediaId,
    /// Its team.
    pub team: TeamId,
    /// The maximum per category, over the text, the image and earlier parts; none when no provider
    /// could score it.
    pub scores: Option<Scores>,
    /// Whether the image was scored; none when no provider has looked at it.
    pub image_scored: Option<bool>,
    /// What providers said in the last part.
    pub providers: Vec<ProviderReport>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// What no provider scored of the text and of the image; none when the analysis did not finish.
    pub gaps: Vec<MissingScores>,
    /// Whether earlier runs have kept parts of it.
    pub has_parts: bool,
}
