//! Bulk decisions: a lead decides about many reviews of the desk at once. The reviews are chosen at
//! the creation. Slice by slice ([`slice`]), jobs of a queue of their own hold a decision for each
//! of them, exactly as if a person had made it there ([`review::say`](crate::review::say)): each has
//! its own time to undo it, and its own job that tells it. The decisions of a slice are stored in the
//! transaction that finishes its job, so none is made twice and none is lost.

mod create;
mod matching;
mod read;
pub mod slice;
mod undo;

use chrono::{DateTime, Utc};
use domain::{
    author::Author,
    chain::State,
    event::{iso8601, iso8601_or_null},
    id::{ActorId, BulkDecisionId, ReviewPolicyId, SiteId, TeamId},
    media::Ruling,
    name::Name,
    review::Severity,
    score::Category,
};
use queue::QueueName;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::{
    create::{Chosen, NewBulk, create},
    matching::{Asker, matching},
    read::{find, list},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, BulkJob},
};

/// Which reviews are meant: those that have all that is named here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Of items of this site.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// Of this severity.
    pub severity: Option<Severity>,
    /// This policy is suggested.
    #[serde(rename = "policy_id")]
    pub policy: Option<ReviewPolicyId>,
    /// The machine flagged the item for this category.
    pub category: Option<Category>,
    /// A rule with this name matched.
    pub rule: Option<Name>,
    /// The item's author.
    pub author: Option<Author>,
}

/// A bulk decision, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Bulk {
    /// The bulk decision.
    pub id: BulkDecisionId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// What was decided.
    pub decision: Ruling,
    /// By which policy.
    #[serde(rename = "policy_id")]
    pub policy: Option<ReviewPolicyId>,
    /// Why. The application reads it.
    pub reason: String,
    /// Which reviews were meant; none if they were named.
    pub filter: Option<Filter>,
    /// How many reviews it is about.
    pub total: i32,
    /// In how many of them a decision was made.
    pub done: i32,
    /// How many were skipped: they had ended, somebody had them, or the lead could not have them.
    pub skipped: i32,
    /// How many decisions were undone before they were told.
    pub undone: i32,
    /// How far it is.
    pub state: State,
    /// Why it failed.
    pub error: Option<String>,
    /// Who decided.
    pub created_by: ActorId,
    /// When it was started.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Bulk {
    const TABLE: &'static str = "bulk_decisions";
    const QUEUE: QueueName = jobs::BULK_DECISIONS;
    type Place = i32;
    type Job = BulkJob;

    fn row(job: &BulkJob) -> Uuid {
        job.bulk.as_uuid()
    }

    async fn ended(conn: &mut PgConnection, row: Uuid) -> Result<(), sqlx::Error> {
        forget_reviews(conn, row).await
    }
}

/// Stops a bulk decision, and undoes what is still held of it. What was told stays. Says how many
/// decisions were undone now.
pub async fn cancel(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<Cancelled, Error> {
    // This waits for a slice that is being stored. So no decision is held after the undoing.
    let stopped = chain::cancel::<Bulk>(conn, bulk.as_uuid()).await?;
    Ok(Cancelled {
        stopped,
        undone: undo::undo(conn, bulk).await?,
    })
}

/// What was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Whether it was running.
    pub stopped: bool,
    /// How many decisions were undone.
    pub undone: u64,
}

/// Forgets bulk decisions that ended long ago, and says how many.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(chain::forget_old::<Bulk>(pool).await?)
}

/// Forgets which reviews it is about: nothing needs them after the last slice.
async fn forget_reviews(conn: &mut PgConnection, bulk: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update bulk_decisions set review_ids = '{}' where id = $1",
        bulk
    )
    .execute(conn)
    .await?;
    Ok(())
}
