//! How much of its plan a team has used.

use api_common::{Field, Json, Path, Refusal, Schema, Time};
use domain::{id::TeamId, scope::Scope};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::usage;
use uuid::Uuid;

use super::{Caller, Operation, Tag, example_values};

/// How much of its plan a team has used.
#[derive(Serialize, Schema)]
pub(super) struct TeamUsage {
    /// The ID of the team.
    team_id: Uuid,
    /// The current billing period, followed by the past periods with submissions, the latest first.
    /// There are at most 120. Periods do not overlap.
    periods: Vec<Period>,
}

/// A billing period.
#[derive(Serialize, Schema)]
struct Period {
    /// When the period began. If the subscription's `started_at` was changed, this is the time of
    /// the change.
    start: Field<Time>,
    /// When the next period begins.
    end: Field<Time>,
    /// The number of submissions that were accepted in the period.
    submissions: i64,
    /// How many submissions the plan allows. For a past period, it is the quota at its last
    /// submission. `null` means no limit.
    #[schema(nullable)]
    quota: Option<i64>,
    /// The number of webhooks that these submissions count for: `media.created` and
    /// `media.moderated`, once for each endpoint that was subscribed to the event.
    deliveries: i64,
    /// How many webhooks the plan allows. For a past period, it is the quota at its last
    /// submission. `null` means no limit.
    #[schema(nullable)]
    delivery_quota: Option<i64>,
}

impl From<usage::Period> for Period {
    fn from(period: usage::Period) -> Self {
        Self {
            start: period.start.into(),
            end: period.end.into(),
            submissions: period.submissions,
            quota: period.quota,
            deliveries: period.deliveries,
            delivery_quota: period.delivery_quota,
        }
    }
}

#[derive(Default)]
pub(crate) struct Usage;

#[OpenApi(tag = "Tag::Usage")]
impl Usage {
    /// Read a team's usage
    ///
    /// Returns the usage by billing period, with the plan's quotas.
    #[oai(
        path = "/teams/:team_id/usage",
        method = "get",
        operation_id = "getUsage"
    )]
    async fn get_usage(
        &self,
        caller: Caller,
        /// The ID of the team.
        team_id: Path<TeamId>,
    ) -> Result<Json<TeamUsage>, Refusal> {
        let periods = management::usage::periods(&caller, team_id.0).await?;
        Ok(Json(TeamUsage {
            team_id: team_id.0.as_uuid(),
            periods: periods.into_iter().map(Period::from).collect(),
        }))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let usage = json!({
        "team_id": example_values::TEAM,
        "periods": [
            {
                "start": "2026-02-28T12:00:00.123456Z",
                "end": "2026-03-31T12:00:00.123456Z",
                "submissions": 4_711,
                "quota": 100_000,
                "deliveries": 9_422,
                "delivery_quota": 400_000,
            },
            {
                "start": "2026-01-31T12:00:00.123456Z",
                "end": "2026-02-28T12:00:00.123456Z",
                "submissions": 98_304,
                "quota": 100_000,
                "deliveries": 196_608,
                "delivery_quota": null,
            },
        ],
    });
    vec![Operation::new("getUsage", Scope::UsageRead).answer(usage)]
}
