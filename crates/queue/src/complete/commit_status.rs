//! Whether a commit succeeded when its answer was lost.

use database::Trouble;
use telemetry::{failed, over};
use tokio::time::timeout;

use crate::{Retry, dedicated_connection::DedicatedConnection, shared::Shared};

/// Finds out whether a transaction was committed when the answer was lost. Waits until the database
/// can tell. If it no longer knows, or the queue closes, the transaction counts as rolled back: the
/// fence makes another try safe.
pub(super) async fn was_committed(
    shared: &Shared,
    connection: &mut DedicatedConnection,
    transaction: i64,
) -> bool {
    let trouble = Trouble::in_turn();
    let mut tries = 0;
    loop {
        match timeout(shared.config.deadline, status(connection, transaction)).await {
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

async fn status(
    connection: &mut DedicatedConnection,
    transaction: i64,
) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select pg_xact_status($1::text::xid8)",
        transaction.to_string(),
    )
    .fetch_one(connection.get().await?)
    .await
}
