//! Wake-ups between processes: one NOTIFY for each short batch. Within a process, see
//! [`local_wakeups`](crate::local_wakeups).
//!
//! The notification is sent after the commit, in a transaction of its own: inside the job's
//! transaction, it would make all commits wait for each other. If a notification is lost, the poll
//! finds every job within [`Config::poll`](crate::Config).

use std::{io, sync::Arc, time::Duration};

use database::{Trouble, connection_shortage::unless_scarce};
use sqlx::{PgConnection, PgExecutor, postgres::PgListener};
use telemetry::{failed, over};
use tracing::debug;
use uuid::Uuid;

use crate::{Retry, shared::Shared};

/// The channel of the notifications: the sender's id, then the names of queues, separated by
/// commas.
const CHANNEL: &str = "queue_wake";
/// The shortest time between two notifications of a process; the first goes out at once.
const NOTIFY_EVERY: Duration = Duration::from_millis(1);

/// Notifies the other processes until the queue closes.
pub(crate) async fn run_notifier(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.local_wakeups.unsent() => {}
        }
        let queues: Vec<&str> = shared.local_wakeups.take_unsent().into_iter().collect();
        if !queues.is_empty()
            && let Err(error) = notify(&shared.pool, shared.worker, &queues).await
        {
            debug!(%error, "could not notify other processes; they find the jobs when they poll");
        }
        if shared.pause(NOTIFY_EVERY).await {
            return;
        }
    }
}

/// Says that jobs of these queues are due, from a process without an open [`Queue`](crate::Queue).
/// Call it after the commit. Workers get the message within milliseconds.
pub async fn wake<Q: AsRef<str>>(conn: &mut PgConnection, queues: &[Q]) -> Result<(), sqlx::Error> {
    if queues.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = queues.iter().map(AsRef::as_ref).collect();
    notify(conn, Uuid::nil(), &names).await
}

async fn notify(
    executor: impl PgExecutor<'_>,
    worker: Uuid,
    queues: &[&str],
) -> Result<(), sqlx::Error> {
    // Notifications may be lost anyway, so this commit does not wait for the disk.
    sqlx::query!(
        "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
        CHANNEL,
        format!("{worker} {}", queues.join(",")),
    )
    .fetch_one(executor)
    .await?;
    Ok(())
}

/// Listens to the other processes, until the queue closes.
pub(crate) async fn run_listener(shared: Arc<Shared>) {
    let mut failures = 0;
    let trouble = Trouble::in_turn();
    loop {
        let ended = tokio::select! {
            () = shared.stopping.cancelled() => return,
            listening = unless_scarce(listen(&shared, &mut failures, &trouble)) => listening,
        };
        // The poll finds the jobs.
        let Some(ended) = ended else {
            continue;
        };
        failures += 1;
        // Without an error, the server has closed the connection.
        let error = ended
            .err()
            .unwrap_or_else(|| io::Error::from(io::ErrorKind::ConnectionReset).into());
        let error = database::counted(error);
        failed!(
            trouble.failed(&error),
            %error,
            "not listening for due jobs; polling until it works again"
        );
        if shared.pause(Retry::OUTAGE.delay(failures)).await {
            return;
        }
    }
}

async fn listen(shared: &Shared, failures: &mut u16, trouble: &Trouble) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(&shared.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    *failures = 0;
    over!(trouble.worked(), "listening for due jobs again");
    // Notifications that were sent while nobody listened are lost.
    shared.local_wakeups.wake_all_here();
    let own = shared.worker.to_string();
    while let Some(notification) = listener.try_recv().await? {
        match notification.payload().split_once(' ') {
            Some((sender, _)) if sender == own => {}
            Some((_, queues)) => queues
                .split(',')
                .for_each(|queue| shared.local_wakeups.wake_here(queue)),
            None => shared.local_wakeups.wake_all_here(),
        }
    }
    Ok(())
}
