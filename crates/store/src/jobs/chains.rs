//! The jobs of chains, each of which does one slice.

use domain::id::{
    BacktestId, BulkDecisionId, ClosureId, ErasureId, HashImportId, HashListId, HashScanId,
    RecoveryId, TeamId,
};
use queue::{Lane, NewJob, QueueName};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    BACKTESTS, BULK_DECISIONS, CLOSURES, ERASURES, HASH_IMPORTS, HASH_SCANS, RECOVERIES, STATISTICS,
};

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

pub(super) fn lane(list: HashListId, team: Option<TeamId>) -> Lane {
    Lane(team.map_or(list.as_uuid(), TeamId::as_uuid))
}
