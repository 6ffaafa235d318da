//! Which answers of an endpoint are kept.

use std::time::Duration;

use domain::id::DeliveryId;
use sqlx::PgPool;

use super::*;
use crate::{delivery::Attempt, schema};

#[sqlx::test(migrations = false)]
async fn case_38_only_the_last_three_attempts_keep_their_answers(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let delivery = DeliveryId::from(Uuid::now_v7());
    let other = DeliveryId::from(Uuid::now_v7());
    for delivery in [delivery, other] {
        sqlx::query("insert into deliveries (id, event_id, endpoint_id) values ($1, $1, $1)")
            .bind(delivery.as_uuid())
            .execute(&mut *conn)
            .await
            .unwrap();
    }
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
        write(&mut conn, &runs).await.unwrap();
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
