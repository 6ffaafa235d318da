//! Rate limits on a real Postgres, as in several processes.

mod keys;
mod processes;
mod teams;

use std::time::{Duration, Instant};

use domain::{
    key::{SecretHash, SiteKey},
    rate_limit::RatePolicy,
};
use sqlx::PgPool;
use store::{
    rate_limit::{Admission, Rates},
    schema,
};

use crate::tenant::Tenant;

/// A site key whose plan allows so many submissions a minute.
async fn key(pool: &PgPool, per_minute: i32) -> SiteKey {
    schema::migrate(pool).await.unwrap();
    let key = key_of(pool, "team").await;
    sqlx::query("update plans set submissions_per_minute = $1")
        .bind(per_minute)
        .execute(pool)
        .await
        .unwrap();
    key
}

/// A site key of a new team.
async fn key_of(pool: &PgPool, team: &str) -> SiteKey {
    Tenant::another(pool, team).await.key
}

/// Waits until the present minute has time enough left for a test.
async fn enough_of_the_minute(pool: &PgPool) {
    let gone: f64 = sqlx::query_scalar("select extract(second from clock_timestamp())::float8")
        .fetch_one(pool)
        .await
        .unwrap();
    if gone > 25.0 {
        tokio::time::sleep(Duration::from_secs_f64(60.5 - gone)).await;
    }
}

/// Waits until so many processes hear what others need of their shares.
async fn until_listening(pool: &PgPool, processes: i64) {
    let listening = "select count(*) from pg_stat_activity
                      where datname = current_database() and state = 'idle' and query like 'LISTEN %'";
    let begun = Instant::now();
    while sqlx::query_scalar::<_, i64>(listening)
        .fetch_one(pool)
        .await
        .unwrap()
        < processes
    {
        assert!(begun.elapsed() < Duration::from_mins(2), "nobody listens");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn admitted(rates: &Rates, key: SecretHash) -> bool {
    match rates.admit(key, RatePolicy::Submit).await.unwrap() {
        // A request that is refused because its turn is too far away counts nevertheless.
        Admission::Admitted(_) | Admission::Hurried(..) => true,
        Admission::Refused(standing, scope) => {
            assert_eq!(standing.of(scope).remaining, 0);
            false
        }
        Admission::UnknownKey => panic!("the key is valid"),
    }
}

/// How many of so many requests at once, by turns over the keys and over the processes, are
/// admitted.
async fn admitted_of(rates: &[&Rates], keys: &[SecretHash], requests: usize) -> usize {
    let waiting: Vec<_> = (0..requests)
        .map(|n| {
            let key = keys[n / rates.len() % keys.len()];
            let rates = rates[n % rates.len()].clone();
            tokio::spawn(async move { admitted(&rates, key).await })
        })
        .collect();
    let mut count = 0;
    for answer in waiting {
        count += usize::from(answer.await.unwrap());
    }
    count
}
