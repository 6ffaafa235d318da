//! The processes that work on items, as they tell in the database: acceptances take the short way only while one lives that
//! understands the jobs of that way ([`crate::accept`]).

use std::time::Duration;

use queue::QueueName;
use sqlx::PgPool;
use uuid::Uuid;

use crate::Error;

/// How often a process tells that it lives.
pub const RENEWAL: Duration = Duration::from_secs(5);
/// Who has not told for so long is gone.
const LEASE: Duration = Duration::from_secs(20);

/// Tells that a process works on these queues, and forgets those that are long gone.
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

/// Takes back what a process has told: it stops.
pub async fn take_back(pool: &PgPool, worker: Uuid) -> Result<(), Error> {
    sqlx::query!("delete from item_workers where worker_id = $1", worker)
        .execute(pool)
        .await?;
    Ok(())
}
