//! Several processes share a limit, through crashes, wrong clocks and new minutes.

use sqlx::PgPool;
use store::rate_limit::Rates;

use super::{admitted, admitted_of, enough_of_the_minute, key, until_listening};

#[sqlx::test(migrations = false)]
async fn case_52_a_window_of_a_clock_that_was_wrong_locks_nobody_out(pool: PgPool) {
    let key = key(&pool, 5).await.hash();
    let rates = Rates::start(pool.clone());
    assert!(admitted(&rates, key).await);
    drop(rates);
    sqlx::query("update rate_windows set minute = minute + interval '6 hours', given = 1000000, scarce = true")
        .execute(&pool)
        .await
        .unwrap();
    let rates = Rates::start(pool.clone());
    assert!(admitted(&rates, key).await);
    let ahead = "select count(*) from rate_windows where minute > now() + interval '1 minute'";
    let ahead: i64 = sqlx::query_scalar(ahead).fetch_one(&pool).await.unwrap();
    assert_eq!(ahead, 0);
}

#[sqlx::test(migrations = false)]
async fn three_processes_together_admit_exactly_the_limit(pool: PgPool) {
    let key = key(&pool, 1_000).await.hash();
    let rates: Vec<Rates> = (0..3).map(|_| Rates::start(pool.clone())).collect();
    let [a, b, c] = &rates[..] else {
        unreachable!()
    };
    until_listening(&pool, 3).await;
    enough_of_the_minute(&pool).await;
    let mut count = admitted_of(&[a, b, c], &[key], 700).await;
    assert_eq!(count, 700);
    count += admitted_of(&[a, b, c], &[key], 700).await;
    assert_eq!(count, 1_000);
    assert_eq!(admitted_of(&[a, b, c], &[key], 100).await, 0);
}

#[sqlx::test(migrations = false)]
async fn what_a_process_holds_unspent_is_given_to_who_needs_it(pool: PgPool) {
    let key = key(&pool, 800).await.hash();
    let (idle, busy) = (Rates::start(pool.clone()), Rates::start(pool.clone()));
    until_listening(&pool, 2).await;
    enough_of_the_minute(&pool).await;
    // A share of 100 requests. One of them is spent.
    assert!(admitted(&idle, key).await);
    let mut count = 0;
    while count < 799 {
        assert!(admitted(&busy, key).await, "refused after {count}");
        count += 1;
    }
    assert!(!admitted(&busy, key).await);
    assert!(!admitted(&idle, key).await);
}

#[sqlx::test(migrations = false)]
async fn a_process_that_died_delays_nobody_for_long_and_nothing_is_given_twice(pool: PgPool) {
    let key = key(&pool, 80).await.hash();
    let (dying, alive) = (Rates::start(pool.clone()), Rates::start(pool.clone()));
    enough_of_the_minute(&pool).await;
    assert!(admitted(&dying, key).await);
    drop(dying);
    assert_eq!(admitted_of(&[&alive], &[key], 100).await, 70);
}

#[sqlx::test(migrations = false)]
async fn the_next_minute_starts_anew(pool: PgPool) {
    let key = key(&pool, 5).await.hash();
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    assert_eq!(admitted_of(&[&rates], &[key], 10).await, 5);
    // What was given out a minute ago.
    sqlx::query("update rate_windows set minute = minute - interval '1 minute'")
        .execute(&pool)
        .await
        .unwrap();
    let restarted = Rates::start(pool.clone());
    assert_eq!(admitted_of(&[&restarted], &[key], 10).await, 5);
}
