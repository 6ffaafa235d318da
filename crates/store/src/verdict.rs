//! The judging step: what the rules need of an item, and the effect of judging it. Every verdict,
//! the machine's or a person's, is stored in one way: [`conclude`].

mod conclude;
mod failed;
mod load;
mod store;

use std::sync::Arc;

use domain::{
    decision::{MissingScores, Unchecked},
    id::{GroupVersionId, MediaId, TeamId},
    image_hash::HashMatch,
    media::{ModerationType, OnFailure, Status, Step},
    score::Scores,
};

use self::load::unchecked;
pub use self::{conclude::expect_none, failed::JudgementDied, load::loader};
pub(crate) use self::{
    conclude::{Conclusion, conclude},
    load::{Wanted, load},
    store::store,
};
use crate::{
    analysis::{Analysed, ToAnalyse},
    rule_group::shadow::{Compared, Shadowed},
};

/// Everything that a pending item is judged by.
#[derive(Clone, Debug)]
pub struct ToJudge {
    /// The item.
    pub media: MediaId,
    /// Its trace.
    pub trace: telemetry::trace::Context,
    /// Its team.
    pub team: TeamId,
    /// Its text.
    pub text: Option<Arc<str>>,
    /// Whether it has an image, too.
    pub has_image: bool,
    /// The hash lists that its image was found on.
    pub image_matches: Vec<HashMatch>,
    /// The versions that were live when it was accepted.
    pub group_versions: Vec<GroupVersionId>,
    /// The versions that judge it without effect, each instead of its group's live version.
    pub shadows: Vec<GroupVersionId>,
    /// Whether a provider scored the image.
    pub image_scored: bool,
    /// What the analysis said; none when no provider could score it.
    pub scores: Option<Scores>,
    /// What the analysis did not score of the text and of the image; empty where that is not known.
    pub gaps: Vec<MissingScores>,
    /// What could not be checked so far.
    pub unchecked: Vec<Unchecked>,
    /// The site's setting for content that could not be checked.
    pub on_failure: OnFailure,
    /// Milliseconds from its acceptance until it was read, by Postgres's clock.
    pub age_ms: u64,
}

impl ToJudge {
    /// What the rules need of an item, by an analysis that was just made.
    pub fn analysed(item: &ToAnalyse, analysed: &Analysed) -> Self {
        Self {
            media: item.media,
            trace: item.trace,
            team: item.team,
            text: item.text.clone(),
            has_image: item.has_image,
            image_matches: item.image_matches.clone(),
            group_versions: item.group_versions.clone(),
            shadows: item.shadows.clone(),
            image_scored: analysed.image_scored == Some(true),
            scores: analysed.scores,
            gaps: analysed.gaps.clone(),
            unchecked: unchecked(
                analysed.unchecked.clone(),
                analysed.image_scored,
                item.image_problem,
            ),
            on_failure: item.on_failure,
            age_ms: u64::try_from(item.age.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// A verdict of the rules.
#[derive(Debug)]
pub struct Concluded {
    /// The item.
    pub media: MediaId,
    /// The verdict; never `pending`.
    pub status: Status,
    /// Who or what decided.
    pub moderation_type: ModerationType,
    /// `moderation_details` as JSON.
    pub details: String,
    /// The trace as JSON.
    pub trace: String,
    /// What shadows said.
    pub shadows: Vec<Shadowed>,
}

impl Concluded {
    fn compared(&self) -> impl Iterator<Item = Compared> {
        self.shadows.iter().map(|shadowed| Compared {
            media: self.media,
            live: self.status,
            shadowed: *shadowed,
        })
    }

    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            media: self.media,
            step: Step::judged(self.status),
            moderation_type: self.moderation_type,
            details: &self.details,
            trace: &self.trace,
            analysed: None,
            created: None,
        }
    }
}
