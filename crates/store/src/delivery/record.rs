//! Records attempts: logs them, moves their deliveries, and updates the health of their endpoints.

use std::time::Duration;

use domain::{
    id::{EndpointId, TeamId},
    webhook::KEPT_ANSWERS,
};
use queue::{DeadJob, Effect, FinishTx, NewJob, NewJobs, OnDead, Survivor};
use sqlx::PgConnection;
use tracing::error;
use uuid::Uuid;

use super::{Attempted, DeliveryState};
use crate::{
    delivery::Attempt,
    endpoint::{
        self,
        health::{self, Sign},
    },
    jobs::{self, DeliveryJob, Turn},
};

/// Records what runs did for deliveries.
pub(super) async fn record(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    if runs.is_empty() {
        return Ok(());
    }
    write(conn, runs).await?;
    forget_older_answers(conn, runs).await?;
    let signs: Vec<Sign> = runs.iter().filter_map(|run| run.sign()).collect();
    health::learn(conn, &signs).await?;
    let gone: Vec<_> = runs.iter().filter_map(|run| run.disable).collect();
    endpoint::disable(conn, &gone).await
}

impl Attempted {
    fn sign(&self) -> Option<Sign> {
        let (endpoint, right) = self.attempt.as_ref()?.sign?;
        Some(Sign {
            endpoint,
            right,
            succeeded: self.state == DeliveryState::Delivered,
        })
    }
}

/// Forgets the answers to all but the last attempts of these deliveries. The attempts themselves
/// stay.
async fn forget_older_answers(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    let (deliveries, older): (Vec<Uuid>, Vec<i16>) = runs
        .iter()
        .filter_map(|run| {
            let older = run.attempt.as_ref()?.number.checked_sub(KEPT_ANSWERS)?;
            (older > 0).then(|| (run.delivery.as_uuid(), small(older)))
        })
        .unzip();
    if deliveries.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        update delivery_attempts a
        set response_body = null
        from unnest($1::uuid [], $2::smallint []) as o (delivery_id, number)
        where a.delivery_id = o.delivery_id and a.number <= o.number and a.response_body is not null
        ",
        &deliveries,
        &older,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Attempt numbers and HTTP statuses fit a `smallint`.
fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}

/// Logs the attempts that were made, and moves the deliveries. One statement: two take a quarter
/// longer for 32 deliveries.
pub(super) async fn write(conn: &mut PgConnection, runs: &[&Attempted]) -> Result<(), sqlx::Error> {
    let columns = Columns::of(runs);
    // The start is computed from Postgres's clock, because workers' clocks may differ.
    sqlx::query!(
        "
        with runs as materialized (
            select *
            from unnest(
                $1::uuid [], $2::text [], $3::bigint [], $4::smallint [], $5::integer [], $6::text [], $7::smallint [],
                $8::bytea [], $9::text [], $10::text []
            ) as r (
                delivery_id, state, delay_ms, number, duration_ms, outcome, status_code, response_body, url, error
            )
        ),
        new_attempts as (
            insert into delivery_attempts
                (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url, error)
            select
                delivery_id, number, clock_timestamp() - duration_ms * interval '1 millisecond', duration_ms,
                outcome, status_code, response_body, url, error
            from runs
            -- A delivery that was erased while it was being sent leaves nothing.
            where number is not null and exists (select from deliveries d where d.id = runs.delivery_id)
        )
        update deliveries d
        set
            state = r.state,
            attempts = d.attempts + case when r.number is null then 0 else 1 end,
            next_attempt_at = now() + r.delay_ms * interval '1 millisecond',
            ended_at = case when r.delay_ms is null then now() end
        from runs r
        where d.id = r.delivery_id and d.state = 'pending'
        ",
        &columns.delivery,
        &columns.state as &[&str],
        &columns.delay_ms as &[Option<i64>],
        &columns.number as &[Option<i16>],
        &columns.duration_ms as &[Option<i32>],
        &columns.outcome as &[Option<&str>],
        &columns.status_code as &[Option<i16>],
        &columns.response_body as &[Option<&[u8]>],
        &columns.url as &[Option<&str>],
        &columns.error as &[Option<&str>],
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// One row for each run. Without an attempt, the columns about it are null.
#[derive(Default)]
struct Columns<'a> {
    delivery: Vec<Uuid>,
    state: Vec<&'static str>,
    /// None: it has ended.
    delay_ms: Vec<Option<i64>>,
    number: Vec<Option<i16>>,
    duration_ms: Vec<Option<i32>>,
    outcome: Vec<Option<&'static str>>,
    status_code: Vec<Option<i16>>,
    response_body: Vec<Option<&'a [u8]>>,
    url: Vec<Option<&'a str>>,
    error: Vec<Option<&'a str>>,
}

impl<'a> Columns<'a> {
    fn of(runs: &[&'a Attempted]) -> Self {
        let mut columns = Self::default();
        for run in runs {
            columns.push(run);
        }
        columns
    }

    fn push(&mut self, run: &'a Attempted) {
        self.delivery.push(run.delivery.as_uuid());
        self.state.push(run.state.as_str());
        self.delay_ms.push(match run.state {
            DeliveryState::Pending(delay) => {
                Some(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
            }
            DeliveryState::Delivered | DeliveryState::Exhausted | DeliveryState::Discarded => None,
        });
        let attempt: Option<&Attempt> = run.attempt.as_ref();
        self.number.push(attempt.map(|a| small(a.number)));
        self.duration_ms
            .push(attempt.map(|a| i32::try_from(a.elapsed.as_millis()).unwrap_or(i32::MAX)));
        self.outcome.push(attempt.map(|a| a.outcome));
        self.status_code
            .push(attempt.and_then(|a| a.status_code.map(small)));
        self.response_body
            .push(attempt.and_then(|a| a.response_body.as_deref()));
        self.url.push(attempt.map(|a| a.url.as_str()));
        self.error.push(attempt.and_then(|a| a.error.as_deref()));
    }
}

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
        record(tx.conn, &runs).await?;
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
        write(tx.conn, &died.iter().collect::<Vec<_>>()).await
    }
}

#[cfg(test)]
mod tests;
