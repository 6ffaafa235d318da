//! Recording attempts: they are logged, their deliveries go on or end, and endpoints are judged by them.

use domain::webhook::KEPT_ANSWERS;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Attempt, Attempted, DeliveryState};
use crate::endpoint::{
    self,
    health::{self, Sign},
};

/// Records what runs did for deliveries.
pub(super) async fn record(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    if runs.is_empty() {
        return Ok(());
    }
    log_attempts(conn, runs).await?;
    forget_older_answers(conn, runs).await?;
    update_deliveries(conn, runs).await?;
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

pub(super) async fn update_deliveries(
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::id::DeliveryId;
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
