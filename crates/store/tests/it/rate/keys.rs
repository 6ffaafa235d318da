//! What a single key may do.

use std::time::Duration;

use domain::{key::SecretHash, rate_limit::RatePolicy};
use sqlx::PgPool;
use store::rate_limit::{Admission, Rates};

use super::{admitted_of, enough_of_the_minute, key};

#[sqlx::test(migrations = false)]
async fn a_disabled_key_is_unknown_also_when_its_limit_is_reached(pool: PgPool) {
    let key = key(&pool, 5).await.hash();
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    assert_eq!(admitted_of(&[&rates], &[key], 10).await, 5);
    sqlx::query("update site_keys set disabled_at = now()")
        .execute(&pool)
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let answer = rates.admit(key, RatePolicy::Submit).await.unwrap();
    assert_eq!(answer, Admission::UnknownKey);
    let unknown = SecretHash::from([1; 32]);
    let answer = rates.admit(unknown, RatePolicy::Status).await.unwrap();
    assert_eq!(answer, Admission::UnknownKey);
}

#[sqlx::test(migrations = false)]
async fn a_site_may_want_less_than_its_plan_allows_but_not_more(pool: PgPool) {
    let key = key(&pool, 20).await.hash();
    enough_of_the_minute(&pool).await;
    sqlx::query("update sites set submissions_per_minute = 7, status_queries_per_minute = 1000000")
        .execute(&pool)
        .await
        .unwrap();
    let rates = Rates::start(pool.clone());
    let Admission::Admitted(submit) = rates.admit(key, RatePolicy::Submit).await.unwrap() else {
        panic!("refused")
    };
    assert_eq!((submit.key.limit, submit.key.remaining), (7, 6));
    assert!((1..=60).contains(&submit.key.resets_in));
    let Admission::Admitted(status) = rates.admit(key, RatePolicy::Status).await.unwrap() else {
        panic!("refused")
    };
    assert_eq!((status.key.limit, status.key.remaining), (2_000, 1_999));
}
