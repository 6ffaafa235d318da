//! The jobs of Gatehouse: their queues' names, which are part of the stored data and never change,
//! and what they carry.

mod webhooks;

use std::time::Duration;

use domain::id::{
    BacktestId, BulkDecisionId, ClosureId, EndpointId, ErasureId, HashImportId, HashListId,
    HashScanId, MediaId, OpinionId, RecoveryId, TeamId,
};
use queue::{Lane, NewJob, QueueName};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::webhooks::{DeliveryJob, TURNS, Turn};
pub(crate) use self::webhooks::{Pages, deliver};

/// An item's image is fetched, decoded and hashed. Lane: the team.
pub const IMAGES: QueueName = QueueName::new("images");

/// Providers look at an item. Lane: the team.
pub const ANALYSIS: QueueName = QueueName::new("analysis");

/// The rules judge an item. Lane: the team.
pub const RULES: QueueName = QueueName::new("rules");

/// Events go to an endpoint. Lane: the endpoint. Group: its team.
pub const WEBHOOKS: QueueName = QueueName::new("webhooks");

/// Rules are replayed over a slice of what was judged before. Lane: the team.
pub const BACKTESTS: QueueName = QueueName::new("backtests");

/// A file of hashes is read into a list. Lane: the list's team; that of a shared list: the list.
pub const HASH_IMPORTS: QueueName = QueueName::new("hash-imports");

/// A list is compared with stored pictures. Lane: the team whose items they are; for all teams: the
/// list.
pub const HASH_SCANS: QueueName = QueueName::new("hash-scans");

/// Deliveries that an endpoint has missed or lost are sent, slice by slice. Lane: the team.
pub const RECOVERIES: QueueName = QueueName::new("recoveries");

/// What happened is added up for statistics. One lane for the whole installation.
pub const STATISTICS: QueueName = QueueName::new("statistics");

/// What people decide on the review desk is told, when the time to undo it is over. Lane: the team.
pub const REVIEWS: QueueName = QueueName::new("reviews");

/// One decision about many reviews is held for each of them, slice by slice. Lane: the team.
pub const BULK_DECISIONS: QueueName = QueueName::new("bulk-decisions");

/// Everything that is stored about some items is removed, slice by slice. Lane: the team.
pub const ERASURES: QueueName = QueueName::new("erasures");

/// Sites and teams are closed, step by step. Lane: the team.
pub const CLOSURES: QueueName = QueueName::new("closures");

/// Items that were judged for one answer only are removed. Lane: the team.
pub const REMOVALS: QueueName = QueueName::new("removals");

/// Every queue. Those of an item's steps come first, in order.
pub const ALL: [QueueName; 14] = [
    IMAGES,
    ANALYSIS,
    RULES,
    WEBHOOKS,
    BACKTESTS,
    HASH_IMPORTS,
    HASH_SCANS,
    RECOVERIES,
    STATISTICS,
    REVIEWS,
    BULK_DECISIONS,
    ERASURES,
    CLOSURES,
    REMOVALS,
];

/// How many jobs of a lane may run at once, over all processes, unless another cap is set. Queues
/// that are not listed have no cap.
pub const LANE_CAPS: [(QueueName, u32); 10] = [
    // With this cap, slow servers of one team delay no other team's images.
    (IMAGES, 16),
    (WEBHOOKS, 32),
    (BACKTESTS, 1),
    (HASH_IMPORTS, 1),
    (HASH_SCANS, 1),
    (RECOVERIES, 1),
    (STATISTICS, 1),
    (BULK_DECISIONS, 1),
    (ERASURES, 1),
    (CLOSURES, 1),
];

/// How long after its verdict an item is removed. The request that waits for the verdict reads it until then.
const DELAY: Duration = Duration::from_secs(15);

/// What needs only Postgres and our own code is tried this often.
const OWN_ATTEMPTS: u16 = 10;

/// The payload of [`REMOVALS`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RemovalJob {
    /// The item.
    pub media: MediaId,
}

/// Remove this item, which has just been decided.
pub(crate) fn remove(media: MediaId, team: TeamId) -> NewJob {
    NewJob::new(REMOVALS, Lane(team.as_uuid()), &RemovalJob { media })
        .max_attempts(OWN_ATTEMPTS)
        .delay(DELAY)
}

/// The payload of [`REVIEWS`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ReviewJob {
    /// What a person said. There is none if the person undid it.
    pub opinion: OpinionId,
}

/// End the hold of what a person said.
pub(crate) fn end_review(opinion: OpinionId, team: TeamId) -> NewJob {
    NewJob::new(REVIEWS, Lane(team.as_uuid()), &ReviewJob { opinion }).max_attempts(OWN_ATTEMPTS)
}

/// The member of a payload that is an id. Each payload has at most one.
#[derive(Deserialize)]
struct Subject {
    #[serde(
        rename = "media",
        alias = "delivery",
        alias = "backtest",
        alias = "import",
        alias = "scan",
        alias = "recovery",
        alias = "opinion",
        alias = "bulk",
        alias = "erasure",
        alias = "closure"
    )]
    id: Option<Uuid>,
}

/// The item, delivery, backtest, import, scan, recovery, opinion, bulk decision, erasure or closure that a job is about. `None` for
/// a page of several deliveries, and for a payload that this version cannot read.
pub fn subject(payload: &str) -> Option<Uuid> {
    serde_json::from_str::<Subject>(payload).ok()?.id
}

/// The format of an item's job that also tells of its acceptance.
const TELLING: i16 = 1;

/// Fetching an image is tried this often, within about two minutes. Then the item goes on without
/// it.
const IMAGE_ATTEMPTS: u16 = 5;

/// An analysis is tried this often, within about two minutes; then the site's `on_failure` decides.
const ANALYSIS_ATTEMPTS: u16 = 5;

/// The payload of [`IMAGES`], of [`ANALYSIS`] and of [`RULES`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MediaJob {
    /// The item.
    pub media: MediaId,
    /// The endpoints that this job must tell of the item's acceptance; none if they were told
    /// already. A binary that does not know this member would tell no endpoint, so jobs with it
    /// have format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tell: Option<Vec<EndpointId>>,
    /// Whether a request waits for the verdict. See [`crate::verdict_waiters`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaited: bool,
    /// Whether the item gets scores in all categories, also in those that no rule wants.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_scores: bool,
}

/// An acceptance that the application has not been told of yet, as far as we know. The item's job carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The item.
    pub media: MediaId,
    /// The endpoints that wanted to be told when it was accepted.
    pub endpoints: Vec<EndpointId>,
}

/// What the request of an item asks of all its jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// See [`MediaJob::awaited`].
    pub awaited: bool,
    /// See [`MediaJob::all_scores`].
    pub all_scores: bool,
}

impl MediaJob {
    fn new(media: MediaId, tell: Option<Vec<EndpointId>>, marks: Marks) -> Self {
        let Marks {
            awaited,
            all_scores,
        } = marks;
        Self {
            media,
            tell,
            awaited,
            all_scores,
        }
    }

    /// What its request asks of the item's other jobs, too.
    pub fn marks(&self) -> Marks {
        Marks {
            awaited: self.awaited,
            all_scores: self.all_scores,
        }
    }

    /// The acceptance that this job must tell.
    pub fn created(&self) -> Option<Created> {
        let endpoints = self.tell.clone()?;
        Some(Created {
            media: self.media,
            endpoints,
        })
    }
}

/// Begin with this item, with the step of [`IMAGES`], [`ANALYSIS`] or [`RULES`].
pub(crate) fn begin(step: QueueName, media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    run(step, &MediaJob::new(media, None, marks), team)
}

/// The same, and tell of the item's acceptance.
pub(crate) fn tell_and_begin(
    step: QueueName,
    created: Created,
    team: TeamId,
    marks: Marks,
) -> NewJob {
    let Created { media, endpoints } = created;
    let job = MediaJob::new(media, Some(endpoints), marks);
    run(step, &job, team).format(TELLING)
}

/// Analyse this item.
pub(crate) fn analyse(media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    begin(ANALYSIS, media, team, marks)
}

/// Judge this item.
pub(crate) fn judge(media: MediaId, team: TeamId, marks: Marks) -> NewJob {
    begin(RULES, media, team, marks)
}

fn run(step: QueueName, job: &MediaJob, team: TeamId) -> NewJob {
    let attempts = match step {
        IMAGES => IMAGE_ATTEMPTS,
        ANALYSIS => ANALYSIS_ATTEMPTS,
        _ => OWN_ATTEMPTS,
    };
    NewJob::new(step, Lane(team.as_uuid()), job).max_attempts(attempts)
}

/// A slice of a chain ([`chain`](crate::chain)) is tried this often. It reads and computes, so it
/// fails only when Postgres or its process fails. Waiting for its turn is not an attempt.
const SLICE_ATTEMPTS: u16 = 10;

/// The payload of [`BACKTESTS`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BacktestJob {
    /// The replay.
    pub backtest: BacktestId,
}

/// The payload of [`HASH_IMPORTS`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HashImportJob {
    /// The import.
    pub import: HashImportId,
}

/// The payload of [`HASH_SCANS`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HashScanJob {
    /// The scan.
    pub scan: HashScanId,
}

/// The payload of [`RECOVERIES`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RecoveryJob {
    /// The recovery.
    pub recovery: RecoveryId,
}

/// The payload of [`BULK_DECISIONS`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BulkJob {
    /// The bulk decision.
    pub bulk: BulkDecisionId,
}

/// The payload of [`ERASURES`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ErasureJob {
    /// The erasure.
    pub erasure: ErasureId,
}

/// The payload of [`CLOSURES`]: its progress is stored in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct ClosureJob {
    /// The closure.
    pub closure: ClosureId,
}

/// The payload of [`STATISTICS`]: there is one such chain, and its progress is stored in the
/// database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StatisticsJob {}

/// Replay the next slice.
pub(crate) fn replay(backtest: BacktestId, team: TeamId) -> NewJob {
    slice(BACKTESTS, Lane(team.as_uuid()), &BacktestJob { backtest })
}

/// Read the next chunk into the list.
pub(crate) fn import(import: HashImportId, list: HashListId, team: Option<TeamId>) -> NewJob {
    slice(HASH_IMPORTS, lane(list, team), &HashImportJob { import })
}

/// Compare the list with the next slice.
pub(crate) fn scan(scan: HashScanId, list: HashListId, team: Option<TeamId>) -> NewJob {
    slice(HASH_SCANS, lane(list, team), &HashScanJob { scan })
}

/// Send the next slice.
pub(crate) fn recover(recovery: RecoveryId, team: TeamId) -> NewJob {
    slice(RECOVERIES, Lane(team.as_uuid()), &RecoveryJob { recovery })
}

/// Hold the decisions of the next slice.
pub(crate) fn decide_next(bulk: BulkDecisionId, team: TeamId) -> NewJob {
    slice(BULK_DECISIONS, Lane(team.as_uuid()), &BulkJob { bulk })
}

/// Erase the next slice.
pub(crate) fn erase(erasure: ErasureId, team: TeamId) -> NewJob {
    slice(ERASURES, Lane(team.as_uuid()), &ErasureJob { erasure })
}

/// Do the next step of a closure.
pub(crate) fn close(closure: ClosureId, team: TeamId) -> NewJob {
    slice(CLOSURES, Lane(team.as_uuid()), &ClosureJob { closure })
}

/// Add up the next slice.
pub(crate) fn add_up() -> NewJob {
    slice(STATISTICS, Lane(Uuid::nil()), &StatisticsJob {})
}

fn slice(queue: QueueName, lane: Lane, job: &impl Serialize) -> NewJob {
    NewJob::new(queue, lane, job).max_attempts(SLICE_ATTEMPTS)
}

fn lane(list: HashListId, team: Option<TeamId>) -> Lane {
    Lane(team.map_or(list.as_uuid(), TeamId::as_uuid))
}

#[cfg(test)]
mod tests {
    use domain::id::{DeliveryId, EndpointId, MediaId, RecoveryId};
    use serde_json::json;

    use super::*;
    use crate::jobs::{MediaJob, RecoveryJob};

    #[test]
    fn a_job_tells_what_it_is_about_and_nothing_else() {
        let id = Uuid::from_u128(7);
        let media = MediaJob {
            media: MediaId::from(id),
            tell: Some(vec![EndpointId::from(Uuid::from_u128(8))]),
            awaited: false,
            all_scores: false,
        };
        let recovery = RecoveryJob {
            recovery: RecoveryId::from(id),
        };
        let page = json!({ "team": Uuid::nil(), "turns": [[DeliveryId::from(id)]] });
        for (payload, expected) in [
            (json!(media), Some(id)),
            (json!(recovery), Some(id)),
            (json!({ "delivery": id, "team": Uuid::nil() }), Some(id)),
            (page, None),
            (json!({ "media": "a text" }), None),
            (json!({ "text": "a text" }), None),
            (json!(["a text"]), None),
            (json!(null), None),
        ] {
            assert_eq!(subject(&payload.to_string()), expected, "{payload}");
        }
    }
}
