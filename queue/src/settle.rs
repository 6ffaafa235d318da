//! The finishing transaction: removes or reschedules the jobs of a batch that are still ours, and applies the
//! effects of exactly those.
//!
//! The fence is the job's id, this worker, and the number of the claim. It is checked by the statement that
//! takes the row out of our hands, so a second try of the same outcome finds nothing and changes nothing.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashSet},
    fmt,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::FutureExt;
use sqlx::{Connection, PgConnection, PgPool, Postgres, Transaction};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::{
    FinishTx, JobId, NewJobs, Retry, effect::AnyEffect, fault::Fault, fence, held::enqueue_held,
    link::Link, outcome::Ended, report::Written, shared::Shared, supervise::panic_text,
};

/// Why a batch was not written; everything is rolled back.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(sqlx::Error),
    Panic(String),
    /// No answer within the deadline.
    TimedOut,
}

impl Failure {
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Sql(error) => Fault::of(error),
            Self::Panic(_) => Fault::Effect,
            Self::TimedOut => Fault::Unclear,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql(error) => error.fmt(f),
            Self::Panic(text) => write!(f, "it panicked: {text}"),
            Self::TimedOut => f.write_str("no answer within the deadline"),
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

/// Writes a batch in one transaction.
pub(crate) async fn settle(
    shared: &Arc<Shared>,
    link: &mut Link,
    ended: &[Ended],
) -> Result<Written, Failure> {
    let (written, transaction) = match prepare_and_commit(shared, link, ended).await {
        Ok(written) => return Ok(written),
        Err(Broken::Failed(failure)) => {
            // A server that blames what was written is alive, can write, and has rolled back.
            let blames_us = matches!(failure, Failure::Sql(sqlx::Error::Database(_)))
                && failure.fault() != Fault::System;
            if !blames_us {
                link.give_up();
            }
            return Err(failure);
        }
        Err(Broken::Unanswered {
            written,
            transaction,
        }) => (written, transaction),
    };
    link.give_up();
    if was_committed(shared, link, transaction).await {
        info!(
            jobs = ended.len(),
            "the answer to a commit was lost; it had succeeded"
        );
        Ok(*written)
    } else {
        Err(Failure::TimedOut)
    }
}

enum Broken {
    Failed(Failure),
    /// The commit was sent and not answered.
    Unanswered {
        written: Box<Written>,
        transaction: i64,
    },
}

impl<F: Into<Failure>> From<F> for Broken {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

async fn prepare_and_commit(
    shared: &Arc<Shared>,
    link: &mut Link,
    ended: &[Ended],
) -> Result<Written, Broken> {
    // The server's own timeouts come first; ours is for a server that is not heard of any more.
    let patience = shared.config.deadline.mul_f64(1.5);
    let prepared = timeout(patience, async {
        let conn = link.get().await?;
        prepare(conn, shared, ended).await
    });
    let (tx, written, transaction) = match AssertUnwindSafe(prepared).catch_unwind().await {
        Ok(Ok(prepared)) => prepared?,
        Ok(Err(_)) => return Err(Failure::TimedOut.into()),
        Err(panic) => return Err(Failure::Panic(panic_text(&*panic).to_owned()).into()),
    };
    match (timeout(patience, tx.commit()).await, transaction) {
        (Ok(Ok(())), _) => Ok(written),
        (Ok(Err(error @ sqlx::Error::Database(_))), _) => Err(Failure::Sql(error).into()),
        (_, Some(transaction)) => Err(Broken::Unanswered {
            written: Box::new(written),
            transaction,
        }),
        // Nothing was written.
        (_, None) => Err(Failure::TimedOut.into()),
    }
}

/// A connection on which neither a stuck statement nor a process stopped in the middle of a transaction keeps its rows locked.
pub(crate) fn bounded_link(pool: &PgPool, deadline: Duration) -> Link {
    let deadline = deadline.as_millis();
    Link::with_settings(
        pool,
        format!(
            "set statement_timeout = {deadline}; set idle_in_transaction_session_timeout = {deadline}"
        ),
    )
}

/// All of the transaction but the commit, and its number if it changed anything.
async fn prepare<'c>(
    conn: &'c mut PgConnection,
    shared: &Arc<Shared>,
    ended: &[Ended],
) -> Result<(Transaction<'c, Postgres>, Written, Option<i64>), sqlx::Error> {
    let mut tx = conn.begin().await?;
    let ours = fence::settle(&mut tx, shared.worker, ended).await?;
    let survivors = ours.ids.into_iter().zip(ours.fences).collect();
    let mut finish = FinishTx {
        conn: &mut tx,
        jobs: NewJobs::new(),
    };
    apply_effects(ended, &survivors, &mut finish).await?;
    let FinishTx { conn, jobs } = finish;
    let follow_ups = enqueue_held(conn, shared, jobs).await?;
    Ok((
        tx,
        Written {
            survivors,
            follow_ups,
        },
        ours.transaction,
    ))
}

/// Applies the effects of the survivors, those of each type together.
async fn apply_effects(
    ended: &[Ended],
    survivors: &HashSet<(JobId, i32)>,
    tx: &mut FinishTx<'_>,
) -> Result<(), sqlx::Error> {
    // In the order of the types, the same in every batch, so that two finishers lock tables alike.
    let mut kinds: BTreeMap<TypeId, Vec<(JobId, u16, &AnyEffect)>> = BTreeMap::new();
    for ended in ended {
        let claim = &ended.hold.claim;
        if let Some(effect) = ended.effect()
            && survivors.contains(&(claim.job, ended.hold.fence()))
        {
            kinds
                .entry(effect.kind())
                .or_default()
                .push((claim.job, claim.attempt(), effect));
        }
    }
    for batch in kinds.values() {
        AnyEffect::apply_all(batch, tx).await?;
    }
    Ok(())
}

/// Looks up what became of a transaction whose commit was not answered. Waits until the database can tell; when
/// it no longer knows, or the queue closes, it counts as rolled back: the fence makes another try safe.
async fn was_committed(shared: &Shared, link: &mut Link, transaction: i64) -> bool {
    let mut tries = 0;
    loop {
        match timeout(shared.config.deadline, status(link, transaction)).await {
            // The server has not yet noticed that its client is gone.
            Ok(Ok(Some(status))) if status == "in progress" => {}
            Ok(Ok(status)) => return status.as_deref() == Some("committed"),
            Ok(Err(error)) => {
                warn!(%error, "cannot yet find out whether an unanswered commit succeeded; trying again");
                link.give_up();
            }
            Err(_) => link.give_up(),
        }
        tries += 1;
        if shared.pause(Retry::OUTAGE.delay(tries)).await {
            return false;
        }
    }
}

async fn status(link: &mut Link, transaction: i64) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select pg_xact_status($1::text::xid8)",
        transaction.to_string(),
    )
    .fetch_one(link.get().await?)
    .await
}
