//! The result of a job that sends deliveries: what it did is recorded, and the rest moves to other
//! jobs.

use std::time::Duration;

use domain::id::{EndpointId, TeamId};
use queue::{DeadJob, Effect, FinishTx, NewJob, NewJobs, OnDead, Survivor};
use tracing::error;

use super::{Attempted, DeliveryState, record};
use crate::jobs::{self, DeliveryJob, Turn};

/// The effect of a run, or of a part of a run. A page no longer names what it has sent or handed
/// on. So each unfinished delivery is in exactly one job, even when the run is killed right after
/// this.
#[derive(Debug)]
pub struct Progress {
    /// Where the page goes.
    pub endpoint: EndpointId,
    /// The endpoint's team.
    pub team: TeamId,
    /// What was sent, or given up.
    pub attempted: Vec<Attempted>,
    /// What moves to jobs of its own.
    pub handed_on: Vec<HandedOn>,
    /// What the job itself still has to send, if it goes on with fewer turns.
    pub rest: Option<Vec<Turn>>,
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
        let (mut going_on, mut payloads) = (Vec::new(), NewJobs::new());
        for Survivor {
            job, effect: page, ..
        } in batch
        {
            for HandedOn { turns, delay } in &page.handed_on {
                tx.jobs.push(page.job(turns).delay(*delay));
            }
            if let Some(rest) = &page.rest {
                going_on.push(*job);
                payloads.push(page.job(rest));
            }
        }
        queue::live_jobs::replace_payloads(tx.conn, &going_on, &payloads).await
    }
}

impl Progress {
    fn job(&self, turns: &[Turn]) -> NewJob {
        jobs::deliver(turns.to_vec(), self.endpoint, self.team)
    }
}

/// Deliveries whose job died because workers died with it again and again. They count as exhausted
/// and can be sent again.
pub struct DeliveryDied;

impl OnDead for DeliveryDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        for job in dead {
            let Ok(DeliveryJob { turns, .. }) = job.args() else {
                error!(job.id = %job.id, "a dead delivery job has no readable payload");
                continue;
            };
            died.extend(turns.into_iter().flatten().map(|delivery| Attempted {
                delivery,
                attempt: None,
                state: DeliveryState::Exhausted,
                disable: None,
            }));
        }
        record::write(tx.conn, &died.iter().collect::<Vec<_>>()).await
    }
}
