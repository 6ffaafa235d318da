//! Backtests: rules replayed over stored items, slice by slice ([`slice`]), as jobs of a queue of
//! their own. The findings of a slice are stored in the transaction that finishes its job, so
//! nothing is lost or counted twice.

mod create;
mod findings;
mod read;
mod retention;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    id::{ActorId, BacktestId, GroupVersionId, RuleGroupId, SiteId, TeamId},
};
use queue::QueueName;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use self::retention::forget_details;
pub use self::{
    create::{NewBacktest, create},
    findings::{Change, changes, counts},
    read::{find, list},
    retention::forget_old,
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, BacktestJob},
};

/// A backtest, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Backtest {
    /// The backtest.
    pub id: BacktestId,
    /// The team whose items are replayed.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The group that is tried.
    #[serde(rename = "rule_group_id")]
    pub group: RuleGroupId,
    /// The version of it; none: the draft as it was.
    #[serde(rename = "version_id")]
    pub version: Option<GroupVersionId>,
    /// Only items of this site.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// Only items accepted at this time or later.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub since: Option<DateTime<Utc>>,
    /// Only items accepted before this time.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub until: DateTime<Utc>,
    /// Its state.
    pub state: State,
    /// How many items it will look at. Never less than `looked_at`: items that were accepted as it
    /// began may become visible only later.
    pub total: i64,
    /// How many items it has looked at: the sum of the next five numbers.
    pub looked_at: i64,
    /// Items that were judged again.
    pub judged: i64,
    /// Items that the group does not judge.
    pub of_other_groups: i64,
    /// Items that have no verdict yet.
    pub undecided: i64,
    /// Items whose content is no longer stored.
    pub without_content: i64,
    /// Items that were never analysed, although the rules ask for scores.
    pub without_scores: i64,
    /// Items whose verdict would change.
    pub changed: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Backtest {
    const TABLE: &'static str = "backtests";
    const QUEUE: QueueName = jobs::BACKTESTS;
    type Place = Option<Uuid>;
    type Job = BacktestJob;

    fn row(job: &BacktestJob) -> Uuid {
        job.backtest.as_uuid()
    }
}

/// Stops a backtest. False: it has ended already. The findings of a running slice are dropped.
pub async fn cancel(conn: &mut PgConnection, backtest: BacktestId) -> Result<bool, Error> {
    Ok(chain::cancel::<Backtest>(conn, backtest.as_uuid()).await?)
}
