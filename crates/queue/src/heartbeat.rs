//! The heartbeat: renews the row of this process in `queue.workers`, and so its lease.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use chrono::{DateTime, Utc};
use database::Trouble;
use sqlx::PgConnection;
use telemetry::{failed, over};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::info;
use uuid::Uuid;

use crate::{
    dedicated_connection::DedicatedConnection, enqueue::millis, lock::lock, metrics, shared::Shared,
};

/// Renews the lease until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut connection = DedicatedConnection::new(&shared.pool);
    let trouble = Trouble::in_turn();
    let mut started = None;
    let mut ticks = interval(shared.config.heartbeat);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        // A heartbeat that hangs must not delay the next ones.
        let patience = (shared.config.lease / 3).min(shared.config.deadline);
        while let Err(error) = renew(&shared, &mut connection, patience, &mut started).await {
            let error = database::counted(error);
            connection.give_up();
            failed!(trouble.failed(&error), %error, "the heartbeat did not reach the database");
            if shared
                .pause(shared.config.heartbeat.min(Duration::from_millis(200)))
                .await
            {
                return;
            }
        }
        over!(trouble.worked(), "heartbeats reach the database again");
        connection.rest().await;
    }
}

/// Shows that this worker is alive, and what held its queues back lately. Its claims are valid for the
/// length of the lease from now. Learns when its first heartbeat came: others remove the row of a
/// process that is silent for long, and it has the same time again when it comes back.
async fn renew(
    shared: &Shared,
    connection: &mut DedicatedConnection,
    patience: Duration,
    started: &mut Option<DateTime<Utc>>,
) -> Result<(), sqlx::Error> {
    let sent = Instant::now();
    let (process, bounds) = (&shared.process, lock(&shared.bounds).clone());
    let beating = async {
        sqlx::query_scalar!(
            "insert into queue.workers (id, started_at, expires_at, host, pid, role, metrics_address, version, connections, bounds)
         values ($1, coalesce($10, now()), now() + $2::bigint * interval '1 millisecond', $3, $4, $5, $6, $7, $8, $9::text::jsonb)
         on conflict (id) do update set expires_at = excluded.expires_at, bounds = excluded.bounds
         returning started_at",
            shared.worker,
            millis(shared.config.lease),
            process.host,
            process.pid,
            process.role,
            process.metrics_address,
            process.version,
            process.connections,
            bounds,
            *started,
        )
        .fetch_one(connection.get().await?)
        .await
    };
    let first = timeout(patience, beating)
        .await
        .map_err(|_| database::deadline_exceeded(patience))??;
    *started = Some(first);
    if !shared.lease.is_held() {
        info!(worker = %shared.worker, "the lease is valid");
    }
    shared.lease.renew(sent);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    metrics::heartbeat(now);
    Ok(())
}

/// Ends a worker's lease: others may rescue its jobs at once.
pub(crate) async fn surrender(conn: &mut PgConnection, worker: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from queue.workers where id = $1", worker,)
        .execute(conn)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use sqlx::PgPool;
    use tokio::time::{sleep, timeout};

    use crate::{Config, Queue};

    #[sqlx::test(migrator = "crate::MIGRATOR")]
    async fn a_process_that_was_silent_for_long_comes_back_with_its_first_start(pool: PgPool) {
        let config = Config {
            heartbeat: Duration::from_millis(100),
            ..Config::default()
        };
        let queue = Queue::open(pool.clone(), config).unwrap();
        let started = async || loop {
            let rows: Vec<DateTime<Utc>> =
                sqlx::query_scalar("select started_at from queue.workers")
                    .fetch_all(&pool)
                    .await
                    .unwrap();
            if let [started] = rows[..] {
                return started;
            }
            sleep(Duration::from_millis(10)).await;
        };
        let minute = Duration::from_mins(1);
        let first = timeout(minute, started()).await.expect("a heartbeat");
        // What others do after a while.
        sqlx::query("delete from queue.workers")
            .execute(&pool)
            .await
            .unwrap();
        let again = timeout(minute, started()).await.expect("another one");
        assert_eq!(again, first);
        queue.close(Duration::from_secs(1)).await;
    }
}
