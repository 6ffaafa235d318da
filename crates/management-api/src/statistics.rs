//! Statistics: figures by hour and day.

mod schemas;

use std::sync::Arc;

use api_common::{
    field::Time,
    problem::{Code, Refusal},
    query_parameters::Query,
    response::Json,
};
use domain::{scope::Scope, statistics::Interval};
use management::{
    Management,
    statistics::{self, Query as Wanted},
};
use poem::web::Data;
use poem_openapi::OpenApi;
use serde_json::{Value, json};
use uuid::Uuid;

use self::schemas::StatisticsReport;
use super::{
    Tag,
    caller::Caller,
    openapi::{Operation, example_values},
};

pub(crate) struct Statistics;

#[OpenApi(tag = "Tag::Statistics")]
impl Statistics {
    /// Read statistics
    ///
    /// Returns how many items were accepted, how they were decided and by whom, how long they waited for a moderator,
    /// and how webhooks were delivered: by hour or by day, in UTC. Without `site_id`, the figures are those of the
    /// token's team, or of all teams for an operator.
    ///
    /// The figures are a minute or two old: `counted_until` is the time until which they are complete. They are kept for
    /// 400 days, longer than items and events, because they contain no content.
    #[oai(path = "/statistics", method = "get", operation_id = "getStatistics")]
    async fn get_statistics(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// Only this site.
        site_id: Query<Uuid>,
        /// The figures begin with the hour or day that contains this time. By default, they cover 24 hours or 30 days.
        /// They cover at most 31 days by hour, and 400 days by day.
        from: Query<Time>,
        /// The figures end before this time, rounded up to a whole hour or day. The default is now.
        to: Query<Time>,
        /// The length of a bucket. The default is `day`.
        interval: Query<Interval>,
    ) -> Result<Json<StatisticsReport>, Refusal> {
        let wanted = Wanted {
            site: site_id.0.map(Into::into),
            from: from.0.map(|time| time.0),
            to: to.0.map(|time| time.0),
            interval: interval.0.unwrap_or(Interval::Day),
        };
        let answer = statistics::get(&management, &caller, wanted).await?;
        Ok(Json(StatisticsReport::new(wanted, answer)))
    }
}

pub(crate) fn descriptions() -> Vec<Operation> {
    let report = json!({
        "site_id": example_values::SITE,
        "from": "2026-01-31T00:00:00.000000Z",
        "to": "2026-02-01T00:00:00.000000Z",
        "interval": "day",
        "counted_until": "2026-02-01T09:14:05.123456Z",
        "history_counted": true,
        "totals": figures(),
        "buckets": [{ "start": "2026-01-31T00:00:00.000000Z", "figures": figures() }],
        "top_rules": [{
            "rule_group_id": example_values::RULE_GROUP,
            "rule_id": example_values::RULE,
            "rule_name": "No insults",
            "matches": 37,
        }],
        "other_rule_matches": 0,
    });
    vec![
        Operation::new("getStatistics", Scope::MediaRead)
            .problems(&[Code::NotFound])
            .answer(report),
    ]
}

fn figures() -> Value {
    let outcomes = |approved, rejected, pending_review| json!({ "approved": approved, "rejected": rejected, "pending_review": pending_review });
    json!({
        "accepted": 4_711,
        "verdicts": {
            "rules": outcomes(120, 31, 6),
            "providers": outcomes(4_402, 84, 61),
            "moderators": outcomes(40, 22, 0),
            "failure_policy": outcomes(0, 0, 7),
        },
        "reviews": { "opened": 74, "decided": 62, "waited_seconds": 18_600.5 },
        "webhooks": { "delivered": 9_404, "failed_attempts": 18, "exhausted": 0, "discarded": 0 },
    })
}
