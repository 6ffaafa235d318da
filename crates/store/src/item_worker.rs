//! The live processes that work on items. Each writes a row. Acceptances take the short way only
//! while a live process understands its jobs ([`crate::accept`]).

use std::time::Duration;

use queue::QueueName;
use sqlx::PgPool;
use uuid::Uuid;

use crate::Error;

/// How often a process updates its row.
pub const RENEWAL: Duration = Duration::from_secs(5);
/// A process whose row is older than this is gone.
const LEASE: Duration = Duration::from_secs(20);

/// Records that a process works on these queues, and forgets processes that are long gone.
pub async fn tell(pool: &PgPool, worker: Uuid, queues: &[QueueName]) -> Result<(), Error> {
    let queues: Vec<&str> = queues.iter().map(|queue| queue.as_str()).collect();
    sqlx::query!(
        "
        with gone as (
            delete from item_workers where expires_at < now() - interval '1 hour' and worker_id <> $1
        )
        insert into item_workers (worker_id, queues, expires_at)
        values ($1, $2, now() + make_interval(secs => $3))
        on conflict (worker_id) do update set queues = excluded.queues, expires_at = excluded.expires_at
        ",
        worker,
        &queues as &[&str],
        LEASE.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Removes a process that stops.
pub async fn take_back(pool: &PgPool, worker: Uuid) -> Result<(), Error> {
    sqlx::query!("delete from item_workers where worker_id = $1", worker)
        .execute(pool)
        .await?;
    Ok(())
}
