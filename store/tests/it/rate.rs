//! Rate limits on a real Postgres, through several processes' worth of them.

use std::time::{Duration, Instant};

use domain::{
    key::{SecretHash, SiteKey},
    limit::{RatePolicy, RateScope},
};
use sqlx::PgPool;
use store::{
    rate::{Admission, Rates},
    schema,
};
use tokio::task::JoinSet;

use crate::tenant::Tenant;

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

/// Further keys of the same site.
async fn more_keys(pool: &PgPool, keys: usize) -> Vec<SecretHash> {
    let site: uuid::Uuid = sqlx::query_scalar("select id from sites")
        .fetch_one(pool)
        .await
        .unwrap();
    let mut tx = pool.begin().await.unwrap();
    let mut made = Vec::new();
    for _ in 0..keys {
        let (_, key) = store::site::keys::create(&mut tx, site.into())
            .await
            .unwrap();
        made.push(key.hash());
    }
    tx.commit().await.unwrap();
    made
}

async fn limit_team(pool: &PgPool, per_minute: i32) {
    sqlx::query("update plans set team_submissions_per_minute = $1")
        .bind(per_minute)
        .execute(pool)
        .await
        .unwrap();
}

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
    if gone > 40.0 {
        tokio::time::sleep(Duration::from_secs_f64(60.5 - gone)).await;
    }
}

async fn admitted(rates: &Rates, key: SecretHash) -> bool {
    match rates.admit(key, RatePolicy::Submit).await.unwrap() {
        // What is refused for its haste is counted all the same.
        Admission::Admitted(_) | Admission::Hurried(..) => true,
        Admission::Refused(standing, scope) => {
            assert_eq!(standing.of(scope).remaining, 0);
            false
        }
        Admission::UnknownKey => panic!("the key is valid"),
    }
}

/// How many of so many at once are admitted.
async fn admitted_of(rates: &[&Rates], key: SecretHash, requests: usize) -> usize {
    let waiting: Vec<_> = (0..requests)
        .map(|n| {
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

#[sqlx::test(migrations = false)]
async fn three_processes_together_admit_exactly_the_limit(pool: PgPool) {
    let key = key(&pool, 1_000).await.hash();
    let rates: Vec<Rates> = (0..3).map(|_| Rates::start(pool.clone())).collect();
    let [a, b, c] = &rates[..] else {
        unreachable!()
    };
    tokio::time::sleep(Duration::from_millis(200)).await;
    enough_of_the_minute(&pool).await;
    let mut count = admitted_of(&[a, b, c], key, 700).await;
    assert_eq!(count, 700);
    count += admitted_of(&[a, b, c], key, 700).await;
    assert_eq!(count, 1_000);
    assert_eq!(admitted_of(&[a, b, c], key, 100).await, 0);
}

#[sqlx::test(migrations = false)]
async fn what_a_process_holds_unspent_is_given_to_who_needs_it(pool: PgPool) {
    let key = key(&pool, 800).await.hash();
    let (idle, busy) = (Rates::start(pool.clone()), Rates::start(pool.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    enough_of_the_minute(&pool).await;
    // A share of 100, of which one is spent.
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
    assert_eq!(admitted_of(&[&alive], key, 100).await, 70);
}

#[sqlx::test(migrations = false)]
async fn the_next_minute_starts_anew(pool: PgPool) {
    let key = key(&pool, 5).await.hash();
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    assert_eq!(admitted_of(&[&rates], key, 10).await, 5);
    // What was given out a minute ago.
    sqlx::query("update rate_windows set minute = minute - interval '1 minute'")
        .execute(&pool)
        .await
        .unwrap();
    let restarted = Rates::start(pool.clone());
    assert_eq!(admitted_of(&[&restarted], key, 10).await, 5);
}

#[sqlx::test(migrations = false)]
async fn a_disabled_key_is_unknown_also_when_its_limit_is_reached(pool: PgPool) {
    let key = key(&pool, 5).await.hash();
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    assert_eq!(admitted_of(&[&rates], key, 10).await, 5);
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

/// How many of so many at once, by turns over the keys and over the processes, are admitted.
async fn admitted_of_keys(rates: &[Rates], keys: &[SecretHash], requests: usize) -> usize {
    let waiting: Vec<_> = (0..requests)
        .map(|n| {
            let (rates, key) = (
                rates[n % rates.len()].clone(),
                keys[n / rates.len() % keys.len()],
            );
            tokio::spawn(async move { admitted(&rates, key).await })
        })
        .collect();
    let mut count = 0;
    for answer in waiting {
        count += usize::from(answer.await.unwrap());
    }
    count
}

#[sqlx::test(migrations = false)]
async fn case_38_all_keys_of_a_team_through_three_processes_get_exactly_the_teams_limit(
    pool: PgPool,
) {
    let mut keys = vec![key(&pool, 1_000).await.hash()];
    keys.extend(more_keys(&pool, 19).await);
    limit_team(&pool, 2_500).await;
    let rates: Vec<Rates> = (0..3).map(|_| Rates::start(pool.clone())).collect();
    tokio::time::sleep(Duration::from_millis(200)).await;
    enough_of_the_minute(&pool).await;
    let mut count = 0;
    for _ in 0..4 {
        count += admitted_of_keys(&rates, &keys, 500).await;
    }
    assert_eq!(
        count, 2_000,
        "nothing is refused while a part of the limit is left"
    );
    count += admitted_of_keys(&rates, &keys, 1_000).await;
    assert_eq!(count, 2_500);
    assert_eq!(admitted_of_keys(&rates, &keys, 100).await, 0);
}

#[sqlx::test(migrations = false)]
async fn case_38_what_a_process_holds_of_a_team_is_given_to_who_needs_it(pool: PgPool) {
    let mut keys = vec![key(&pool, 1_000).await.hash()];
    keys.extend(more_keys(&pool, 4).await);
    limit_team(&pool, 800).await;
    let (idle, busy) = (Rates::start(pool.clone()), Rates::start(pool.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    enough_of_the_minute(&pool).await;
    // Each a share of its own, of which one is spent; and shares of the team's 800.
    for key in &keys {
        assert!(admitted(&idle, *key).await);
    }
    for n in 0..795 {
        let key = keys[n % keys.len()];
        assert!(admitted(&busy, key).await, "refused after {n}");
    }
    for key in &keys {
        assert!(!admitted(&busy, *key).await);
        assert!(!admitted(&idle, *key).await);
    }
}

#[sqlx::test(migrations = false)]
async fn case_38_a_refusal_names_the_limit_that_was_reached(pool: PgPool) {
    let first = key(&pool, 10).await.hash();
    let second = more_keys(&pool, 1).await[0];
    limit_team(&pool, 15).await;
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    assert_eq!(admitted_of(&[&rates], first, 12).await, 10);
    let refused = rates.admit(first, RatePolicy::Submit).await.unwrap();
    assert!(matches!(refused, Admission::Refused(_, RateScope::Key)));
    assert_eq!(admitted_of(&[&rates], second, 10).await, 5);
    let refused = rates.admit(second, RatePolicy::Submit).await.unwrap();
    let Admission::Refused(standing, RateScope::Team) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!((standing.team.limit, standing.team.remaining), (15, 0));
    assert_eq!(standing.tighter().name, "team_submit");
    // The other policy has a limit of its own, ten times that of a key where the plan says nothing.
    let status = rates.admit(first, RatePolicy::Status).await.unwrap();
    let Admission::Admitted(standing) = status else {
        panic!("{status:?}")
    };
    assert_eq!(standing.team.limit, 20_000);
}

#[sqlx::test(migrations = false)]
async fn case_38_what_a_team_sends_at_once_waits_for_its_turn_and_other_teams_do_not(pool: PgPool) {
    let keys = {
        let first = key(&pool, 100_000).await.hash();
        [first, more_keys(&pool, 1).await[0]]
    };
    limit_team(&pool, 12_000).await;
    let other = key_of(&pool, "other").await.hash();
    let rates = Rates::start(pool.clone());
    enough_of_the_minute(&pool).await;
    let began = Instant::now();
    let mut all = JoinSet::new();
    for n in 0..2_000 {
        let (rates, key) = (rates.clone(), keys[n % 2]);
        all.spawn(async move {
            let answer = rates.admit(key, RatePolicy::Submit).await.unwrap();
            (answer, began.elapsed())
        });
    }
    let others = async {
        for _ in 0..100 {
            assert!(admitted(&rates, other).await);
        }
        began.elapsed()
    };
    let (answers, others_took) = tokio::join!(all.join_all(), others);
    // Two seconds' worth at once, five more seconds' worth while the longest wait lasts.
    let admitted = answers
        .iter()
        .filter(|(answer, _)| matches!(answer, Admission::Admitted(_)));
    let longest = admitted.clone().map(|(_, took)| *took).max().unwrap();
    let admitted = u32::try_from(admitted.count()).unwrap();
    // And as many as came later, on a slow machine.
    let refused = answers
        .iter()
        .filter(|(answer, _)| matches!(answer, Admission::Hurried(..)));
    let last = refused.map(|(_, took)| took.as_secs_f64()).reduce(f64::max);
    let later = 200.0 * last.unwrap_or(longest.as_secs_f64());
    assert!(admitted >= 1_400, "{admitted}");
    assert!(
        f64::from(admitted) <= 1_410.0 + later,
        "{admitted}, {last:?}"
    );
    assert!(longest >= Duration::from_secs(4), "{longest:?}");
    assert!(others_took < longest, "{others_took:?}, {longest:?}");
    for (answer, took) in &answers {
        let Admission::Hurried(standing, wait) = answer else {
            continue;
        };
        assert_eq!(standing.team.limit, 12_000);
        assert!(*wait > Duration::from_secs(5) && took < &longest);
    }
}
