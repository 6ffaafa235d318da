//! Shadows in requests and responses.

use api_common::field::{Field, Time};
use domain::{id::GroupVersionId, media::Status};
use management::rule_groups::shadow;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::rule_group::shadow::Difference;
use uuid::Uuid;

/// The version that will judge in the shadow.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShadowVersionChange {
    /// A version of the group that is not live.
    pub(super) version_id: Field<GroupVersionId>,
}

/// What a version said in the shadow of the live one.
#[derive(Serialize, Object)]
pub(crate) struct ShadowReport {
    /// The version.
    version_id: Uuid,
    /// The number of items that it judged.
    judged: i64,
    /// Of these, the number of items that would have got another status.
    differing: i64,
    /// Of these, the number of items without a score that a rule of the version asks for. No provider is asked on behalf of
    /// a shadow.
    unscored: i64,
    /// How many items got which status, and which one they would have got.
    counts: Vec<ShadowCount>,
}

/// The number of items with the same pair of statuses.
#[derive(Serialize, Object)]
pub(super) struct ShadowCount {
    /// The status that they got.
    live_status: Field<Status>,
    /// The status that they would have got.
    shadow_status: Field<Status>,
    /// The number of items.
    items: i64,
}

impl From<shadow::ShadowReport> for ShadowReport {
    fn from(report: shadow::ShadowReport) -> Self {
        let counts = report.counts.into_iter();
        Self {
            version_id: report.version.as_uuid(),
            judged: report.judged,
            differing: report.differing,
            unscored: report.unscored,
            counts: counts.map(ShadowCount::from).collect(),
        }
    }
}

impl From<shadow::ShadowCount> for ShadowCount {
    fn from(count: shadow::ShadowCount) -> Self {
        Self {
            live_status: Field(count.live),
            shadow_status: Field(count.shadow),
            items: count.items,
        }
    }
}

/// An item about which a version in the shadow differed.
#[derive(Serialize, Object)]
pub(crate) struct ShadowDifference {
    /// The media item.
    media_id: Uuid,
    /// The status that it got.
    live_status: Field<Status>,
    /// The status that it would have got.
    shadow_status: Field<Status>,
    /// When it was judged.
    judged_at: Field<Time>,
}

impl From<Difference> for ShadowDifference {
    fn from(difference: Difference) -> Self {
        Self {
            media_id: difference.media.as_uuid(),
            live_status: Field(difference.live),
            shadow_status: Field(difference.shadow),
            judged_at: difference.judged_at.into(),
        }
    }
}
