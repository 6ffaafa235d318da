//! The finishing transaction: removes or reschedules the jobs of a batch that are still ours, and
//! applies the effects of exactly these jobs.
//!
//! The fence consists of the job's id, this worker, and the number of the claim. The statement that
//! takes the row away from us checks it, so a second try of the same outcome finds nothing and
//! changes nothing.

mod commit_status;
mod failure;
mod prepare;

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures::FutureExt;
use sqlx::PgPool;
use tokio::time::timeout;
use tracing::info;

use self::{commit_status::was_committed, prepare::prepare};
use crate::{
    after_commit::Written, dedicated_connection::DedicatedConnection, fault::Fault, outcome::Ended,
    shared::Shared, supervise::panic_text,
};

pub(crate) use self::failure::Failure;

/// Writes a batch in one transaction.
pub(crate) async fn complete(
    shared: &Arc<Shared>,
    connection: &mut DedicatedConnection,
    ended: &[Ended],
) -> Result<Written, Failure> {
    let (written, transaction) = match prepare_and_commit(shared, connection, ended).await {
        Ok(written) => return Ok(written),
        Err(Broken::Failed(failure)) => {
            // A server that rejects the data is alive, can write, and has rolled back.
            let blames_us = matches!(failure, Failure::Sql(sqlx::Error::Database(_)))
                && failure.fault() != Fault::System;
            if !blames_us {
                connection.give_up();
            }
            return Err(failure);
        }
        Err(Broken::Unanswered {
            written,
            transaction,
        }) => (written, transaction),
    };
    connection.give_up();
    if was_committed(shared, connection, transaction).await {
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
    /// The commit was sent, but not answered.
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
    connection: &mut DedicatedConnection,
    ended: &[Ended],
) -> Result<Written, Broken> {
    // The server's own timeouts come first. Ours is for a server that does not answer any more.
    let patience = shared.config.deadline.mul_f64(1.5);
    let prepared = timeout(patience, async {
        let conn = connection.get().await?;
        prepare(conn, shared, ended).await
    });
    let (tx, written, transaction) = match AssertUnwindSafe(prepared).catch_unwind().await {
        Ok(Ok(prepared)) => prepared?,
        Ok(Err(_)) => return Err(Failure::TimedOut.into()),
        Err(panic) => return Err(Failure::Panic(panic_text(&*panic).to_owned()).into()),
    };
    match (timeout(patience, tx.commit()).await, transaction) {
        (Ok(Ok(())), _) => Ok(written),
        (Ok(Err(error @ sqlx::Error::Database(_))), _) => Err(Failure::from(error).into()),
        (_, Some(transaction)) => Err(Broken::Unanswered {
            written: Box::new(written),
            transaction,
        }),
        // Nothing was written.
        (_, None) => Err(Failure::TimedOut.into()),
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
