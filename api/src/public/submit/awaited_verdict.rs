//! The verdict that an answer has waited for.

use domain::{
    id::MediaId,
    media::{Status, StatusVocabulary},
};
use serde_json::value::RawValue;
use store::{item_status::MediaStatus, verdict_waiters};

/// A verdict.
pub(crate) struct Verdict {
    pub(crate) media: MediaId,
    /// Never `pending`.
    pub(crate) status: Status,
    /// How the site wants the status spelled.
    pub(crate) vocabulary: StatusVocabulary,
    /// `moderation_details`.
    pub(crate) details: Option<Box<RawValue>>,
}

impl Verdict {
    /// As the worker has given it, whose process is this one. None: its details are no JSON.
    pub(super) fn given(
        media: MediaId,
        vocabulary: StatusVocabulary,
        verdict: verdict_waiters::Verdict,
    ) -> Option<Self> {
        let verdict_waiters::Verdict { status, details } = verdict;
        Some(Self {
            media,
            status,
            vocabulary,
            details: Some(RawValue::from_string(details.as_ref().to_owned()).ok()?),
        })
    }
}

impl From<&MediaStatus> for Verdict {
    /// As Postgres has it.
    fn from(status: &MediaStatus) -> Self {
        Self {
            media: status.media,
            status: status.status,
            vocabulary: status.vocabulary,
            details: status.details.clone(),
        }
    }
}
