//! The jobs of Gatehouse: their queues' names, which are part of the stored data and never change, and what they carry.

mod webhooks;

use domain::id::{
    BacktestId, EndpointId, HashImportId, HashListId, HashScanId, MediaId, RecoveryId, TeamId,
};
use queue::{Lane, NewJob, QueueName};
use serde::{Deserialize, Serialize};

pub use self::webhooks::{DeliveryJob, TURNS, Turn};
pub(crate) use self::webhooks::{Pages, deliver};
use crate::acceptance::Created;

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
/// A list is held against stored pictures. Lane: the team whose items they are; all teams': the list.
pub const HASH_SCANS: QueueName = QueueName::new("hash-scans");
/// What an endpoint has missed or lost is put on its way, slice by slice. Lane: the team.
pub const RECOVERIES: QueueName = QueueName::new("recoveries");

/// Every queue, those of an item's way in its order.
pub const ALL: [QueueName; 8] = [
    IMAGES,
    ANALYSIS,
    RULES,
    WEBHOOKS,
    BACKTESTS,
    HASH_IMPORTS,
    HASH_SCANS,
    RECOVERIES,
];

/// How many jobs of a lane may run at once, over all processes, unless somebody sets another cap. Queues that are not here have
/// none.
pub const LANE_CAPS: [(QueueName, u32); 6] = [
    // So that slow servers of one team delay no other's images.
    (IMAGES, 16),
    (WEBHOOKS, 32),
    (BACKTESTS, 1),
    (HASH_IMPORTS, 1),
    (HASH_SCANS, 1),
    (RECOVERIES, 1),
];

/// The format of an item's job that also tells of its acceptance.
const TELLING: i16 = 1;

/// An image is tried to be had this often, within about two minutes; then the item goes on without it.
const IMAGE_ATTEMPTS: u16 = 5;
/// An analysis is tried this often, within about two minutes; then the site's `on_failure` decides.
const ANALYSIS_ATTEMPTS: u16 = 5;
/// Judging needs nothing but Postgres and our own code: it fails only with either.
const RULES_ATTEMPTS: u16 = 10;
/// A slice of a chain ([`chain`](crate::chain)) is tried this often. It reads and computes: it fails only with Postgres or with
/// its process. Waiting for its turn is no attempt.
const SLICE_ATTEMPTS: u16 = 10;
/// The payload of [`IMAGES`], of [`ANALYSIS`] and of [`RULES`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MediaJob {
    /// The item.
    pub media: MediaId,
    /// The endpoints that this job is to tell of the item's acceptance; none if that is told already. A binary that does not
    /// know this member would tell nobody, so jobs with it are of format 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tell: Option<Vec<EndpointId>>,
}

impl MediaJob {
    /// The acceptance that is still to be told.
    pub fn created(&self) -> Option<Created> {
        let endpoints = self.tell.clone()?;
        Some(Created {
            media: self.media,
            endpoints,
        })
    }
}

/// The payload of [`BACKTESTS`]: how far it has got stands in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct BacktestJob {
    /// The replay.
    pub backtest: BacktestId,
}

/// The payload of [`HASH_IMPORTS`]: how far it has got stands in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HashImportJob {
    /// The import.
    pub import: HashImportId,
}

/// The payload of [`HASH_SCANS`]: how far it has got stands in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct HashScanJob {
    /// The scan.
    pub scan: HashScanId,
}

/// The payload of [`RECOVERIES`]: how far it has got stands in the database.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct RecoveryJob {
    /// The recovery.
    pub recovery: RecoveryId,
}

/// Begin with this item, with the step of [`IMAGES`], [`ANALYSIS`] or [`RULES`].
pub(crate) fn begin(step: QueueName, media: MediaId, team: TeamId) -> NewJob {
    run(step, &MediaJob { media, tell: None }, team)
}

/// Likewise, and tell of the item's acceptance.
pub(crate) fn tell_and_begin(step: QueueName, created: Created, team: TeamId) -> NewJob {
    let Created { media, endpoints } = created;
    let tell = Some(endpoints);
    run(step, &MediaJob { media, tell }, team).format(TELLING)
}

/// Analyse this item.
pub(crate) fn analyse(media: MediaId, team: TeamId) -> NewJob {
    begin(ANALYSIS, media, team)
}

/// Judge this item.
pub(crate) fn judge(media: MediaId, team: TeamId) -> NewJob {
    begin(RULES, media, team)
}

fn run(step: QueueName, job: &MediaJob, team: TeamId) -> NewJob {
    let attempts = match step {
        IMAGES => IMAGE_ATTEMPTS,
        ANALYSIS => ANALYSIS_ATTEMPTS,
        _ => RULES_ATTEMPTS,
    };
    NewJob::new(step, Lane(team.as_uuid()), job).max_attempts(attempts)
}

/// Replay the next slice.
pub(crate) fn replay(backtest: BacktestId, team: TeamId) -> NewJob {
    slice(BACKTESTS, Lane(team.as_uuid()), &BacktestJob { backtest })
}

/// Read the next chunk into the list.
pub(crate) fn import(import: HashImportId, list: HashListId, team: Option<TeamId>) -> NewJob {
    slice(HASH_IMPORTS, lane(list, team), &HashImportJob { import })
}

/// Hold the list against the next slice.
pub(crate) fn scan(scan: HashScanId, list: HashListId, team: Option<TeamId>) -> NewJob {
    slice(HASH_SCANS, lane(list, team), &HashScanJob { scan })
}

/// Put the next slice on its way.
pub(crate) fn recover(recovery: RecoveryId, team: TeamId) -> NewJob {
    slice(RECOVERIES, Lane(team.as_uuid()), &RecoveryJob { recovery })
}

fn slice(queue: QueueName, lane: Lane, job: &impl Serialize) -> NewJob {
    NewJob::new(queue, lane, job).max_attempts(SLICE_ATTEMPTS)
}

fn lane(list: HashListId, team: Option<TeamId>) -> Lane {
    Lane(team.map_or(list.as_uuid(), TeamId::as_uuid))
}
