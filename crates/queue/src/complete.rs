//! The finishing transaction: removes or reschedules the jobs of a batch that are still ours, and
//! applies the effects of exactly these jobs.
//!
//! The fence consists of the job's id, this worker, and the number of the claim. The statement that
//! takes the row away from us checks it, so a second try of the same outcome finds nothing and
//! changes nothing.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashSet},
    fmt,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use database::{Absence, Trouble};
use futures::FutureExt;
use sqlx::{Connection, PgConnection, PgPool, Postgres, Transaction};
use telemetry::{failed, over};
use tokio::time::timeout;
use tracing::info;

use crate::{
    FinishTx, JobId, NewJobs, Retry, Run, Survivor, after_commit::Written,
    dedicated_connection::DedicatedConnection, effect::AnyEffect, fault::Fault, fence,
    outcome::Ended, preclaimed::enqueue_preclaimed, shared::Shared, supervise::panic_text,
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

impl Absence for Failure {
    fn is_absence(&self) -> bool {
        match self {
            Self::Sql(error) => error.is_absence(),
            Self::Panic(_) => false,
            Self::TimedOut => true,
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
        Self::Sql(database::counted(error))
    }
}

/// Writes a batch in one transaction.
pub(crate) async fn complete(
    shared: &Arc<Shared>,
    connection: &mut DedicatedConnection,
    ended: &[Ended],
) -> Result<Written, Failure> {
    let (written, unanswered) = match prepare_and_commit(shared, connection, ended).await {
        Ok(written) => written,
        Err(failure) => {
            // A server that rejects the data is alive, can write, and has rolled back.
            let blames_us = matches!(failure, Failure::Sql(sqlx::Error::Database(_)))
                && failure.fault() != Fault::System;
            if !blames_us {
                connection.give_up();
            }
            return Err(failure);
        }
    };
    let Some(transaction) = unanswered else {
        return Ok(written);
    };
    connection.give_up();
    if was_committed(shared, connection, transaction).await {
        info!(
            jobs = ended.len(),
            "the answer to a commit was lost; it had succeeded"
        );
        Ok(written)
    } else {
        Err(Failure::TimedOut)
    }
}

/// What was written, and the number of the transaction if its commit was sent and not answered.
async fn prepare_and_commit(
    shared: &Arc<Shared>,
    connection: &mut DedicatedConnection,
    ended: &[Ended],
) -> Result<(Written, Option<i64>), Failure> {
    // The server's own timeouts come first. Ours is for a server that does not answer any more.
    let patience = shared.config.deadline.mul_f64(1.5);
    let prepared = timeout(patience, async {
        let conn = connection.get().await?;
        prepare(conn, shared, ended).await
    });
    let (tx, written, transaction) = match AssertUnwindSafe(prepared).catch_unwind().await {
        Ok(Ok(prepared)) => prepared?,
        Ok(Err(_)) => return Err(Failure::TimedOut),
        Err(panic) => return Err(Failure::Panic(panic_text(&*panic).to_owned())),
    };
    match (timeout(patience, tx.commit()).await, transaction) {
        (Ok(Ok(())), _) => Ok((written, None)),
        (Ok(Err(error @ sqlx::Error::Database(_))), _) => Err(error.into()),
        (_, Some(_)) => Ok((written, transaction)),
        // Nothing was written.
        (_, None) => Err(Failure::TimedOut),
    }
}

/// The transaction up to the commit, and its number if it changed anything.
async fn prepare<'c>(
    conn: &'c mut PgConnection,
    shared: &Arc<Shared>,
    ended: &[Ended],
) -> Result<(Transaction<'c, Postgres>, Written, Option<i64>), sqlx::Error> {
    let mut tx = conn.begin().await?;
    let ours = fence::complete(&mut tx, shared.worker, ended).await?;
    let survivors = ours.ids.into_iter().zip(ours.fences).collect();
    let mut finish = FinishTx {
        conn: &mut tx,
        jobs: NewJobs::new(),
    };
    apply_effects(ended, &survivors, &mut finish).await?;
    let FinishTx { conn, jobs } = finish;
    let follow_ups = enqueue_preclaimed(conn, shared, jobs).await?;
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
    // Sorted by type, in the same order in every batch, so that two finishers lock tables in the
    // same order.
    let mut kinds: BTreeMap<TypeId, Vec<Survivor<'_, AnyEffect>>> = BTreeMap::new();
    for ended in ended {
        let Run { job, attempt, .. } = ended.in_flight.run;
        if let Some(effect) = ended.effect()
            && survivors.contains(&(job, ended.in_flight.fence()))
        {
            kinds.entry(effect.kind()).or_default().push(Survivor {
                job,
                attempt,
                effect,
            });
        }
    }
    for batch in kinds.values() {
        AnyEffect::apply_all(batch, tx).await?;
    }
    Ok(())
}

/// Finds out whether a transaction was committed when the answer was lost. Waits until the database
/// can tell. If it no longer knows, or the queue closes, the transaction counts as rolled back: the
/// fence makes another try safe.
async fn was_committed(
    shared: &Shared,
    connection: &mut DedicatedConnection,
    transaction: i64,
) -> bool {
    let trouble = Trouble::in_turn();
    let mut tries = 0;
    loop {
        let asking = async {
            sqlx::query_scalar!(
                "select pg_xact_status($1::text::xid8)",
                transaction.to_string(),
            )
            .fetch_one(connection.get().await?)
            .await
        };
        match timeout(shared.config.deadline, asking).await {
            // The server has not yet noticed that its client is gone.
            Ok(Ok(Some(status))) if status == "in progress" => {}
            Ok(Ok(status)) => {
                over!(
                    trouble.worked(),
                    "found out whether an unanswered commit succeeded"
                );
                return status.as_deref() == Some("committed");
            }
            Ok(Err(error)) => {
                let error = database::counted(error);
                failed!(
                    trouble.failed(&error),
                    %error,
                    "cannot yet find out whether an unanswered commit succeeded; trying again"
                );
                connection.give_up();
            }
            Err(_) => connection.give_up(),
        }
        tries += 1;
        if shared.pause(Retry::OUTAGE.delay(tries)).await {
            return false;
        }
    }
}

/// A connection with time limits, so that neither a stuck statement nor a process that stopped in a
/// transaction keeps its rows locked.
pub(crate) fn bounded_connection(pool: &PgPool, deadline: Duration) -> DedicatedConnection {
    let deadline = deadline.as_millis();
    DedicatedConnection::with_settings(
        pool,
        format!(
            "set statement_timeout = {deadline}; set idle_in_transaction_session_timeout = {deadline}"
        ),
    )
}
