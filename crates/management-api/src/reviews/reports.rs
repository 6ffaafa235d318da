//! Reports of the desk: how much waits, how fast and how well people decide, how the machine compares, and how much people see.

mod machine;
mod proportion;
mod schemas;

use api_common::{Code, Json, Query, Refusal, Schema, Time};
use domain::scope::Scope;
use management::reviews::{self, Exposure, Exposures, quality};
use poem::{IntoResponse, Response};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaResponses, MetaSchema, Registry},
};
use serde::Serialize;
use serde_json::{Value, json};
use uuid::Uuid;

use self::schemas::ReviewQuality;
use crate::{
    Caller, Operation, Tag, example_values,
    saved_file::{described, saved_file},
};

#[derive(Default)]
pub(crate) struct ReviewReports;

#[OpenApi(tag = "Tag::Reviews")]
impl ReviewReports {
    /// Read the desk's reports
    ///
    /// What waits now, and of a span of time: how long decisions took, what each person decided, how far two people agree, how
    /// often a second look overturned a verdict, how often known answers were found, and how the machine compares with people.
    /// Shares have Wilson intervals of 95 %. The span has at most 92 days. At most 50,000 decisions are counted, the latest, and at
    /// most 10,000 items are compared with the machine: `is_complete` says whether these are all.
    #[oai(
        path = "/reviews/quality",
        method = "get",
        operation_id = "getReviewQuality"
    )]
    async fn get_review_quality(
        &self,
        caller: Caller,
        /// From this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// Before this time. The default is now.
        to: Query<Time>,
        /// Only this site.
        site_id: Query<Uuid>,
    ) -> Result<Json<ReviewQuality>, Refusal> {
        let query = wanted(&from, &to, &site_id);
        let quality = quality::quality(&caller, query).await?;
        Ok(Json(quality.into()))
    }

    /// Download the desk's reports
    ///
    /// The figures of `getReviewQuality` as CSV, one figure a line. Texts that a spreadsheet would take for a formula have a `'` in
    /// front.
    #[oai(
        path = "/reviews/quality/csv",
        method = "get",
        operation_id = "downloadReviewQuality"
    )]
    async fn download_review_quality(
        &self,
        caller: Caller,
        /// From this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// Before this time. The default is now.
        to: Query<Time>,
        /// Only this site.
        site_id: Query<Uuid>,
    ) -> Result<ReportFile, Refusal> {
        let query = wanted(&from, &to, &site_id);
        let quality = quality::quality(&caller, query).await?;
        Ok(ReportFile::new(quality::csv(&quality)))
    }

    /// Read how much people have seen
    ///
    /// How many reviews each person has decided, and how many pictures they have uncovered, by day (UTC). Somebody with the scope
    /// `reviews:manage` sees it of everybody in the team, anybody else only of themselves. At most 92 days, and 10,000 rows.
    #[oai(
        path = "/reviews/exposure",
        method = "get",
        operation_id = "getReviewExposure"
    )]
    async fn get_review_exposure(
        &self,
        caller: Caller,
        /// From the day that contains this time on. The default is 30 days before `to`.
        from: Query<Time>,
        /// To the end of the day that contains this time. The default is today.
        to: Query<Time>,
    ) -> Result<Json<ReviewExposure>, Refusal> {
        let (from, to) = (from.0.map(|time| time.0), to.0.map(|time| time.0));
        let exposures = reviews::exposures(&caller, from, to).await?;
        Ok(Json(exposures.into()))
    }
}

fn wanted(from: &Query<Time>, to: &Query<Time>, site: &Query<Uuid>) -> quality::Query {
    quality::Query {
        site: site.0.map(Into::into),
        from: from.0.as_ref().map(|time| time.0),
        to: to.0.as_ref().map(|time| time.0),
    }
}

/// The answer.
pub(crate) struct ReportFile(String);

impl ReportFile {
    fn new(csv: String) -> Self {
        Self(csv)
    }
}

const CSV: &str = "text/csv";

impl IntoResponse for ReportFile {
    fn into_response(self) -> Response {
        saved_file("text/csv; charset=utf-8", "review-quality.csv", self.0)
    }
}

impl ApiResponse for ReportFile {
    fn meta() -> MetaResponses {
        let description = "The figures, one a line, with the columns `report`, `id`, `name`, `part`, `threshold`, `figure` and `value`.";
        described(description, &[CSV], &MetaSchema::new("string"))
    }

    fn register(_registry: &mut Registry) {}
}

/// How much people have seen.
#[derive(Serialize, Schema)]
pub(crate) struct ReviewExposure {
    /// The first day, in UTC.
    from: String,
    /// The last day.
    to: String,
    /// Whether these are all rows of the span.
    is_complete: bool,
    /// A row for each person and day, the latest day first.
    data: Vec<ReviewExposureDay>,
}

/// How much a person has seen on a day.
#[derive(Serialize, Schema)]
struct ReviewExposureDay {
    /// The person or the token.
    id: Uuid,
    /// What they are called. `null` if they are gone.
    #[schema(nullable)]
    name: Option<String>,
    /// The day, in UTC.
    day: String,
    /// Decisions that they have made, those included that they undid.
    decided: i32,
    /// Pictures that they have uncovered.
    unveiled: i32,
}

impl From<Exposures> for ReviewExposure {
    fn from(exposures: Exposures) -> Self {
        Self {
            from: exposures.from.to_string(),
            to: exposures.to.to_string(),
            is_complete: exposures.is_complete,
            data: exposures.rows.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Exposure> for ReviewExposureDay {
    fn from(row: Exposure) -> Self {
        Self {
            id: row.actor.as_uuid(),
            name: row.name,
            day: row.day.to_string(),
            decided: row.decided,
            unveiled: row.unveiled,
        }
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("getReviewQuality", Scope::ReviewsManage)
            .problems(&[Code::NotFound])
            .answer(quality_example()),
        Operation::new("downloadReviewQuality", Scope::ReviewsManage)
            .problems(&[Code::NotFound]),
        Operation::new("getReviewExposure", Scope::ReviewsRead)
            .answer(json!({
                "from": "2026-01-01",
                "to": "2026-01-31",
                "is_complete": true,
                "data": [{ "id": example_values::PERSON, "name": "Ada", "day": "2026-01-31", "decided": 212, "unveiled": 31 }],
            })),
    ]
}

fn quality_example() -> Value {
    let nothing = share(0, 0, None);
    let policy = json!({ "id": example_values::POLICY, "code": "hate", "name": "Hate" });
    let backlog =
        json!({ "reviews": 12, "overdue": 1, "oldest_waiting_since": example_values::CREATED_AT });
    let speed = json!({
        "p50_seconds": 412.5,
        "p90_seconds": 3120.0,
        "p99_seconds": 9000.25,
        "in_time": share(19, 20, Some((0.95, 0.764, 0.991))),
    });
    let agreement = json!({
        "two_people": 30,
        "audits": 20,
        "agreed": share(35, 50, Some((0.7, 0.562, 0.809))),
        "kappa": 0.4,
        "kappa_low": 0.15,
        "kappa_high": 0.65,
    });
    let overturned = json!({
        "total": share(1, 20, Some((0.05, 0.009, 0.236))),
        "audits": share(1, 20, Some((0.05, 0.009, 0.236))),
        "appeals": nothing,
        "elsewhere": nothing,
    });
    let point = json!({
        "threshold": 0.5,
        "precision": share(15, 20, Some((0.75, 0.531, 0.888))),
        "recall": share(15, 20, Some((0.75, 0.531, 0.888))),
    });
    let curve = json!({
        "rejected": share(20, 50, Some((0.4, 0.276, 0.538))),
        "points": [point],
        "review": point,
        "reject": null,
    });
    json!({
        "site_id": null,
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2026-01-31T00:00:00.000000Z",
        "counted": 260,
        "is_complete": true,
        "waiting": {
            "by_site": [{ "site_id": example_values::SITE, "site_name": "Community forum", "backlog": backlog }],
            "by_policy": [{ "policy": policy, "backlog": backlog }],
            "is_complete": true,
        },
        "time_to_decision": speed,
        "time_to_decision_by_severity": [{ "severity": "high", "time_to_decision": speed }],
        "people": [{
            "id": example_values::PERSON,
            "name": "Ada",
            "decisions": 260,
            "approved": 180,
            "rejected": 80,
            "hours": [0, 0, 0, 0, 0, 0, 0, 0, 40, 60, 60, 50, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "golden": share(19, 20, Some((0.95, 0.764, 0.991))),
        }],
        "agreement": agreement,
        "agreement_by_policy": [{ "policy": policy, "agreement": agreement }],
        "overturned": overturned,
        "overturned_by_policy": [{ "policy": policy, "overturned": overturned }],
        "golden": share(19, 20, Some((0.95, 0.764, 0.991))),
        "machine": {
            "items": 50,
            "is_complete": true,
            "groups_left_out": 0,
            "thresholds": [{
                "rule_group_id": example_values::RULE_GROUP,
                "rule_group_name": "Forum rules",
                "rule_id": example_values::RULE,
                "rule_name": "hate",
                "category": "hate",
                "review_at": 0.5,
                "reject_at": null,
                "overall": curve,
                "by_provider": [{ "provider": "openai", "curve": curve }],
            }],
            "matches": [{
                "rule_id": example_values::RULE,
                "rule_name": "hate",
                "rule_type": "ai_threshold",
                "rejected": share(15, 20, Some((0.75, 0.531, 0.888))),
            }],
        },
    })
}

fn share(count: u64, of: u64, share: Option<(f64, f64, f64)>) -> Value {
    json!({
        "count": count,
        "of": of,
        "share": share.map(|share| share.0),
        "low": share.map(|share| share.1),
        "high": share.map(|share| share.2),
    })
}
