//! What becomes of a job that sends deliveries: what it did is recorded, and what it did not do goes on elsewhere.

use std::time::Duration;

use domain::id::{EndpointId, TeamId};
use queue::{DeadJob, Effect, FinishTx, Obituary, Survivor};
use tracing::error;

use super::{Attempted, DeliveryState, record};
use crate::jobs::{self, DeliveryJob, Turn};

/// The effect of a run of a page.
#[derive(Debug)]
pub struct Progress {
    /// Where the page goes.
    pub endpoint: EndpointId,
    /// The endpoint's team.
    pub team: TeamId,
    /// What was sent, or given up.
    pub attempted: Vec<Attempted>,
    /// What goes on as jobs of its own.
    pub handed_on: Vec<HandedOn>,
}

/// Turns that become a job of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOn {
    /// What it sends.
    pub turns: Vec<Turn>,
    /// How long it waits.
    pub delay: Duration,
}

impl Effect for Progress {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let runs: Vec<&Attempted> = batch
            .iter()
            .flat_map(|survivor| &survivor.effect.attempted)
            .collect();
        record::record(tx.conn, &runs).await?;
        for Survivor { effect: page, .. } in batch {
            for HandedOn { turns, delay } in &page.handed_on {
                let job = jobs::deliver(turns.clone(), page.endpoint, page.team);
                tx.jobs.push(job.delay(*delay));
            }
        }
        Ok(())
    }
}

/// Deliveries whose job died, because workers died with it again and again: they count as exhausted and can be replayed.
pub struct DeliveryDied;

impl Obituary for DeliveryDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        for job in dead {
            let Ok(DeliveryJob { turns, .. }) = job.args() else {
                error!(job.id = %job.id, "a dead delivery job names no delivery");
                continue;
            };
            died.extend(turns.into_iter().flatten().map(|delivery| Attempted {
                delivery,
                attempt: None,
                state: DeliveryState::Exhausted,
                disable: None,
            }));
        }
        record::update_deliveries(tx.conn, &died.iter().collect::<Vec<_>>()).await
    }
}
