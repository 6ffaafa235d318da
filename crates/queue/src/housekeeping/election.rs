//! Who does the housekeeping: the oldest live worker, and each one once when it starts.

use tokio::time::timeout;
use uuid::Uuid;

use super::duty::Duty;
use crate::{dedicated_connection::DedicatedConnection, shared::Shared};

/// What a process knows of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Ranked(Rank),
    /// Two others are older.
    Outranked,
    /// Its lease has ended, for example because the database is away.
    Unknown,
}

/// The rank of a process among the live workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// The housekeeper, who has all duties.
    Eldest,
    /// Only publishes statistics.
    Next,
    /// Has just started: all duties but the statistics, once.
    Newcomer,
}

impl Rank {
    pub(super) fn has(self, duty: Duty) -> bool {
        match self {
            Self::Eldest => true,
            Self::Next => duty == Duty::Gauges,
            Self::Newcomer => duty != Duty::Gauges,
        }
    }
}

pub(super) async fn rank(
    shared: &Shared,
    connection: &mut DedicatedConnection,
) -> Result<Standing, sqlx::Error> {
    if !shared.lease.is_held() {
        return Ok(Standing::Unknown);
    }
    let eldest = async {
        sqlx::query_scalar!(
            "select id from queue.workers where expires_at > now() order by started_at, id limit 2"
        )
        .fetch_all(connection.get().await?)
        .await
    };
    let eldest: Vec<Uuid> = timeout(shared.config.deadline, eldest)
        .await
        .map_err(|_| database::deadline_exceeded(shared.config.deadline))??;
    Ok(match eldest.iter().position(|id| *id == shared.worker) {
        Some(0) => Standing::Ranked(Rank::Eldest),
        Some(_) => Standing::Ranked(Rank::Next),
        None => Standing::Outranked,
    })
}
