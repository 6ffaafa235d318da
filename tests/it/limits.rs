//! Limits that several interface processes enforce together. Each name begins with the number of
//! its case in `docs/reliability.md`.

mod replicas;
mod team;

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use crate::support::Api;

/// Requests that run at the same time.
const AT_ONCE: usize = 32;

async fn replicas(pool: &PgPool) -> Arc<[Api]> {
    let (a, b, c) = tokio::join!(Api::start(pool), Api::start(pool), Api::start(pool));
    Arc::new([a, b, c])
}

/// Sends this many submissions, distributed over the replicas. Returns the answers.
async fn submit(
    replicas: &Arc<[Api]>,
    requests: usize,
    body: Value,
    idempotency_key: Option<&'static str>,
) -> Vec<(u16, Value)> {
    submit_each(replicas, requests, &[body], idempotency_key).await
}

/// The same, with several bodies in turn.
async fn submit_each(
    replicas: &Arc<[Api]>,
    requests: usize,
    bodies: &[Value],
    idempotency_key: Option<&'static str>,
) -> Vec<(u16, Value)> {
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let waiting: Vec<_> = (0..requests)
        .map(|n| {
            let (replicas, slots) = (Arc::clone(replicas), Arc::clone(&slots));
            let body = bodies[n / replicas.len() % bodies.len()].clone();
            tokio::spawn(async move {
                let _slot = slots.acquire().await.unwrap();
                let replica = &replicas[n % replicas.len()];
                let answer = replica.post("submit-media", idempotency_key, &body).await;
                answer.unwrap()
            })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in waiting {
        answers.push(answer.await.unwrap());
    }
    answers
}

fn accepted(answers: &[(u16, Value)]) -> usize {
    answers.iter().filter(|(status, _)| *status == 200).count()
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

const MEDIA: &str = "select count(*) from media";

/// Sends requests within one minute of Postgres's clock, and then runs the check that `send`
/// returns. If a minute ends in between, it sends them again in another minute.
async fn in_one_minute<C: FnOnce()>(pool: &PgPool, send: impl AsyncFn() -> C) {
    let minute = async || -> (i64, f64) {
        let now = "select extract(epoch from date_trunc('minute', clock_timestamp()))::bigint,
            extract(second from clock_timestamp())::float8";
        sqlx::query_as(now).fetch_one(pool).await.unwrap()
    };
    for attempt in 0..5 {
        let (_, gone) = minute().await;
        // Earlier requests may have used a part of this minute.
        if attempt > 0 || gone > 20.0 {
            tokio::time::sleep(Duration::from_secs_f64(60.2 - gone)).await;
        }
        let (before, _) = minute().await;
        let check = send().await;
        if minute().await.0 == before {
            return check();
        }
    }
    panic!("the requests never fit into one minute");
}
