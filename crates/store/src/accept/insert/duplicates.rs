//! Duplicates, which other statements have stored before: rows of a commit whose answer was lost, and
//! idempotency keys.

use std::collections::{HashMap, HashSet};

use domain::id::MediaId;
use queue::Queue;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Inserted, jobs_of};
use crate::accept::{Acceptance, NewMedia, routing::Routing};

/// Whether another process has just stored a request with the same idempotency key. The next try
/// finds that request.
pub(crate) fn is_race(error: &sqlx::Error) -> bool {
    constraint_of(error) == Some("idempotency_keys_pkey")
}

/// Whether a row of the batch is there already.
pub(crate) fn is_own_row(error: &sqlx::Error) -> bool {
    // The ids of its event and deliveries, if it has any, follow from its own id. The server
    // chooses which of them it reports first.
    matches!(
        constraint_of(error),
        Some("media_pkey" | "events_pkey" | "deliveries_pkey")
    )
}

fn constraint_of(error: &sqlx::Error) -> Option<&str> {
    error
        .as_database_error()
        .and_then(|error| error.constraint())
}

/// Which of these were stored by a commit whose answer was lost.
pub(crate) async fn existing(
    conn: &mut PgConnection,
    batch: &[&NewMedia],
    routing: &Routing,
    queue: &Queue,
) -> Result<Inserted, sqlx::Error> {
    let ids: Vec<Uuid> = batch.iter().map(|media| media.id.as_uuid()).collect();
    let found = sqlx::query_scalar!("select id from media where id = any($1)", &ids)
        .fetch_all(conn)
        .await?;
    let settled: HashMap<_, _> = found
        .into_iter()
        .map(|id| (MediaId::from(id), Acceptance::Accepted))
        .collect();
    queue.enqueued(&jobs_of(batch, routing, |id| settled.contains_key(&id)));
    Ok(Inserted {
        settled,
        expired: HashSet::new(),
    })
}

/// Forgets the idempotency keys of these if they have expired.
pub(crate) async fn forget_expired(
    conn: &mut PgConnection,
    batch: &[&NewMedia],
) -> Result<(), sqlx::Error> {
    let (sites, keys): (Vec<Uuid>, Vec<&str>) = batch
        .iter()
        .filter_map(|media| {
            let idempotency = media.idempotency.as_ref()?;
            Some((media.site.id.as_uuid(), idempotency.key.as_str()))
        })
        .unzip();
    sqlx::query!(
        "
        delete from idempotency_keys f
        using unnest($1::uuid [], $2::text []) as i (site_id, key)
        where f.site_id = i.site_id and f.key = i.key and f.created_at <= now() - interval '24 hours'
        ",
        &sites,
        &keys as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}
