//! What a team has used of its plan.

use std::sync::Arc;

use domain::{id::TeamId, scope::Scope};
use management::Management;
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use store::usage;
use uuid::Uuid;

use super::{
    Tag,
    caller::Caller,
    document::{Operation, example},
};
use crate::{
    answer::Json,
    member::{Member, Time},
    path::Path,
    problem::Refusal,
};

/// What a team has used of its plan.
#[derive(Serialize, Object)]
pub(super) struct TeamUsage {
    /// The team.
    team_id: Uuid,
    /// The current billing period, then the past ones in which anything was submitted, the latest first; 120 at most. They do not
    /// overlap.
    periods: Vec<Period>,
}

/// A billing period.
#[derive(Serialize, Object)]
struct Period {
    /// When it began. After a change of the subscription's `started_at` this is the time of the change.
    start: Member<Time>,
    /// When the next one begins.
    end: Member<Time>,
    /// Submissions that were accepted in it.
    submissions: i64,
    /// How many the plan allows; in a past period, allowed when the last one was accepted. Null is no limit.
    #[oai(nullable)]
    quota: Option<i64>,
    /// Webhooks that its submissions were counted for: `media.created` and `media.moderated`, once for each endpoint that wanted
    /// them.
    deliveries: i64,
    /// How many the plan allows; in a past period, allowed when the last submission was accepted. Null is no limit.
    #[oai(nullable)]
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

pub(crate) struct Usage;

#[OpenApi(tag = "Tag::Usage")]
impl Usage {
    /// Read a team's usage
    ///
    /// By billing period, with the plan's quotas.
    #[oai(
        path = "/teams/:team_id/usage",
        method = "get",
        operation_id = "getUsage"
    )]
    async fn get_usage(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The team.
        team_id: Path<TeamId>,
    ) -> Result<Json<TeamUsage>, Refusal> {
        let periods = management::usage::periods(&management, &caller, team_id.0).await?;
        Ok(Json(TeamUsage {
            team_id: team_id.0.as_uuid(),
            periods: periods.into_iter().map(Period::from).collect(),
        }))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let usage = json!({
        "team_id": example::TEAM,
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
    vec![Operation {
        answer: Some(usage),
        ..Operation::new("getUsage", Scope::UsageRead)
    }]
}
