//! Items that are judged for one answer only. They are stored like others, because everything that happens to an item is stored, but
//! nobody is told of them and no person sees them. The verdict's transaction adds the job that removes them.

use domain::id::MediaId;
use queue::{Effect, FinishTx, Survivor};
use sqlx::PgPool;
use uuid::Uuid;

use super::remove;
use crate::{Error, legal_hold};

/// The item is removed, with everything that belongs to it.
#[derive(Clone, Copy, Debug)]
pub struct Removed {
    /// The item.
    pub media: MediaId,
}

/// Whether a legal hold keeps an item.
///
/// # Errors
/// The database is away.
pub async fn is_held(pool: &PgPool, media: MediaId) -> Result<bool, Error> {
    let mut conn = pool.acquire().await?;
    let held = legal_hold::held(&mut conn, &[media.as_uuid()]).await?;
    Ok(!held.is_empty())
}

impl Effect for Removed {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let items: Vec<Uuid> = batch
            .iter()
            .map(|removed| removed.effect.media.as_uuid())
            .collect();
        // Locked, so that nobody stores a verdict meanwhile. Only items that are to be removed: the id comes from a payload.
        let items = sqlx::query_scalar!(
            "select id from media where id = any($1) and is_transient order by id for update",
            &items,
        )
        .fetch_all(&mut *tx.conn)
        .await?;
        if items.is_empty() {
            return Ok(());
        }
        // Their errors may quote what was submitted.
        sqlx::query!(
            "delete from queue.dead_jobs where payload ->> 'media' = any($1::uuid []::text [])",
            &items,
        )
        .execute(&mut *tx.conn)
        .await?;
        remove(tx.conn, &items).await
    }
}
