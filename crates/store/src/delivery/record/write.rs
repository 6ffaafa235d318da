//! The statement that logs attempts and moves their deliveries.

use sqlx::PgConnection;
use uuid::Uuid;

use super::small;
use crate::delivery::{Attempt, Attempted, DeliveryState};

/// Logs the attempts that were made, and moves the deliveries. One statement: two take a quarter
/// longer for 32 deliveries.
pub(crate) async fn write(conn: &mut PgConnection, runs: &[&Attempted]) -> Result<(), sqlx::Error> {
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
