//! Who does the housekeeping: the oldest live worker.

use tokio::time::timeout;
use uuid::Uuid;

use crate::{link::Link, shared::Shared};

/// The rank of a process among the live workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// The housekeeper, who has all duties.
    Eldest,
    /// Only publishes statistics.
    Next,
}

pub(super) async fn rank(shared: &Shared, link: &mut Link) -> Result<Option<Rank>, sqlx::Error> {
    if !shared.lease.is_held() {
        return Ok(None);
    }
    let eldest = async {
        sqlx::query_scalar!(
            "select id from queue.workers where expires_at > now() order by started_at, id limit 2"
        )
        .fetch_all(link.get().await?)
        .await
    };
    let eldest: Vec<Uuid> = timeout(shared.config.deadline, eldest)
        .await
        .map_err(|_| database::late(shared.config.deadline))??;
    Ok(match eldest.iter().position(|id| *id == shared.worker) {
        Some(0) => Some(Rank::Eldest),
        Some(_) => Some(Rank::Next),
        None => None,
    })
}
