//! What became of an attempt: it is logged, its delivery goes on or ends, and its endpoint is judged by it.

use std::time::Duration;

use domain::{
    breaker::Right,
    id::{DeliveryId, EndpointId},
    webhook::KEPT_ANSWERS,
};
use queue::{DeadJob, Effect, FinishTx, Obituary, Survivor};
use sqlx::PgConnection;
use tracing::error;
use uuid::Uuid;

use crate::{
    endpoint::{
        self,
        health::{self, Sign},
    },
    jobs::DeliveryJob,
};

/// How an attempt went.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Which one, from 1.
    pub number: u16,
    /// How long it took.
    pub elapsed: Duration,
    /// How it ended, in one word: `delivered`, `status`, `timeout`, `refused`, ...
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// What is kept of the answer ([`domain::webhook::kept_answer`]).
    pub response_body: Option<Vec<u8>>,
    /// Where it went.
    pub url: String,
    /// Why there was no answer, in words for the endpoint's owner; none if there was one.
    pub error: Option<String>,
    /// What it says of the endpoint; none if that is nothing new.
    pub sign: Option<(EndpointId, Right)>,
}

/// What becomes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// There will be another attempt after this time.
    Pending(Duration),
    /// The endpoint has it.
    Delivered,
    /// Its attempts are spent.
    Exhausted,
    /// Its endpoint is disabled.
    Discarded,
}

impl DeliveryState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Discarded => "discarded",
        }
    }
}

/// The effect of a run of a delivery: the attempt, if one was made, is logged, and the delivery goes on or ends.
#[derive(Debug)]
pub struct Attempted {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt that was made.
    pub attempt: Option<Attempt>,
    /// Where the delivery stands now.
    pub state: DeliveryState,
    /// Set when the endpoint asked for no more: it is disabled for this reason.
    pub disable: Option<(EndpointId, &'static str)>,
}

impl Effect for Attempted {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let runs: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        log_attempts(tx.conn, &runs).await?;
        forget_older_answers(tx.conn, &runs).await?;
        update_deliveries(tx.conn, &runs).await?;
        let signs: Vec<Sign> = runs.iter().filter_map(|run| run.sign()).collect();
        health::learn(tx.conn, &signs).await?;
        let gone: Vec<_> = runs.iter().filter_map(|run| run.disable).collect();
        endpoint::disable(tx.conn, &gone).await
    }
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

async fn log_attempts(conn: &mut PgConnection, runs: &[&Attempted]) -> Result<(), sqlx::Error> {
    let attempts: Vec<(&Attempted, &Attempt)> = runs
        .iter()
        .filter_map(|run| run.attempt.as_ref().map(|attempt| (*run, attempt)))
        .collect();
    if attempts.is_empty() {
        return Ok(());
    }
    let deliveries: Vec<Uuid> = attempts
        .iter()
        .map(|(run, _)| run.delivery.as_uuid())
        .collect();
    let numbers: Vec<i16> = attempts.iter().map(|(_, a)| small(a.number)).collect();
    let durations: Vec<i32> = attempts
        .iter()
        .map(|(_, a)| i32::try_from(a.elapsed.as_millis()).unwrap_or(i32::MAX))
        .collect();
    let outcomes: Vec<&str> = attempts.iter().map(|(_, a)| a.outcome).collect();
    let codes: Vec<Option<i16>> = attempts
        .iter()
        .map(|(_, a)| a.status_code.map(small))
        .collect();
    let bodies: Vec<Option<&[u8]>> = attempts
        .iter()
        .map(|(_, a)| a.response_body.as_deref())
        .collect();
    let urls: Vec<&str> = attempts.iter().map(|(_, a)| a.url.as_str()).collect();
    let errors: Vec<Option<&str>> = attempts.iter().map(|(_, a)| a.error.as_deref()).collect();
    // The start is reckoned back from Postgres's clock: workers' clocks may differ.
    sqlx::query!(
        "
        insert into delivery_attempts
            (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url, error)
        select
            delivery_id, number, clock_timestamp() - duration_ms * interval '1 millisecond', duration_ms,
            outcome, status_code, response_body, url, error
        from unnest(
            $1::uuid [], $2::smallint [], $3::integer [], $4::text [], $5::smallint [], $6::bytea [], $7::text [], $8::text []
        ) as a (delivery_id, number, duration_ms, outcome, status_code, response_body, url, error)
        ",
        &deliveries,
        &numbers,
        &durations,
        &outcomes as &[&str],
        &codes as &[Option<i16>],
        &bodies as &[Option<&[u8]>],
        &urls as &[&str],
        &errors as &[Option<&str>],
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets the answers to all but the last attempts of these deliveries. The attempts themselves stay.
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

async fn update_deliveries(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    let deliveries: Vec<Uuid> = runs.iter().map(|run| run.delivery.as_uuid()).collect();
    let made: Vec<i16> = runs
        .iter()
        .map(|run| i16::from(run.attempt.is_some()))
        .collect();
    let states: Vec<&str> = runs.iter().map(|run| run.state.as_str()).collect();
    let delays: Vec<Option<i64>> = runs
        .iter()
        .map(|run| match run.state {
            DeliveryState::Pending(delay) => {
                Some(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
            }
            DeliveryState::Delivered | DeliveryState::Exhausted | DeliveryState::Discarded => None,
        })
        .collect();
    sqlx::query!(
        "
        update deliveries d
        set
            state = r.state,
            attempts = d.attempts + r.made,
            next_attempt_at = now() + r.delay_ms * interval '1 millisecond',
            ended_at = case when r.delay_ms is null then now() end
        from unnest($1::uuid [], $2::smallint [], $3::text [], $4::bigint []) as r (delivery_id, made, state, delay_ms)
        where d.id = r.delivery_id and d.state = 'pending'
        ",
        &deliveries,
        &made,
        &states as &[&str],
        &delays as &[Option<i64>],
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Attempt numbers and HTTP statuses fit a `smallint`.
fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}

/// A delivery whose job died, because workers died with it again and again: it counts as exhausted and can be replayed.
pub struct DeliveryDied;

impl Obituary for DeliveryDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let died: Vec<Attempted> = dead
            .iter()
            .filter_map(|job| {
                let Ok(DeliveryJob { delivery }) = job.args() else {
                    error!(job.id = %job.id, "a dead delivery job names no delivery");
                    return None;
                };
                Some(Attempted {
                    delivery,
                    attempt: None,
                    state: DeliveryState::Exhausted,
                    disable: None,
                })
            })
            .collect();
        update_deliveries(tx.conn, &died.iter().collect::<Vec<_>>()).await
    }
}

#[cfg(test)]
mod tests {
    use sqlx::PgPool;

    use super::*;
    use crate::schema;

    #[sqlx::test(migrations = false)]
    async fn case_38_only_the_last_three_attempts_keep_their_answers(pool: PgPool) {
        schema::migrate(&pool).await.unwrap();
        let mut conn = pool.acquire().await.unwrap();
        let delivery = DeliveryId::from(Uuid::now_v7());
        let other = DeliveryId::from(Uuid::now_v7());
        let run = |delivery, number| Attempted {
            delivery,
            attempt: Some(Attempt {
                number,
                elapsed: Duration::from_millis(7),
                outcome: "status",
                status_code: Some(503),
                response_body: Some(b"busy".to_vec()),
                url: "https://example.com/".to_owned(),
                error: None,
                sign: None,
            }),
            state: DeliveryState::Pending(Duration::ZERO),
            disable: None,
        };
        for number in 1..=12 {
            let runs = [run(delivery, number), run(other, 2 * number)];
            // The other one's numbers have gaps.
            let runs: Vec<&Attempted> = runs.iter().collect();
            log_attempts(&mut conn, &runs).await.unwrap();
            forget_older_answers(&mut conn, &runs).await.unwrap();
            let kept: Vec<(Uuid, i16)> = sqlx::query_as(
                "select delivery_id, number from delivery_attempts where response_body is not null order by 1, 2",
            )
            .fetch_all(&mut *conn)
            .await
            .unwrap();
            let number = i16::try_from(number).unwrap();
            let last_three: Vec<i16> = kept
                .iter()
                .filter(|(of, _)| *of == delivery.as_uuid())
                .map(|(_, number)| *number)
                .collect();
            let expected: Vec<i16> = ((number - 2).max(1)..=number).collect();
            assert_eq!(last_three, expected);
            assert!(kept.len() <= 6, "{kept:?}");
        }
        let rows: i64 = sqlx::query_scalar("select count(*) from delivery_attempts")
            .fetch_one(&mut *conn)
            .await
            .unwrap();
        assert_eq!(rows, 24, "every attempt keeps its row");
    }
}
