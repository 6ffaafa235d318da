//! The limit of a team, which all of its keys share.

use std::time::{Duration, Instant};

use domain::{
    key::SecretHash,
    rate_limit::{RatePolicy, RateScope},
};
use sqlx::PgPool;
use store::rate_limit::{Admission, Rates};
use tokio::task::JoinSet;

use super::{admitted, admitted_of, enough_of_the_minute, key, key_of, until_listening};

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

#[sqlx::test(migrations = false)]
async fn case_38_all_keys_of_a_team_through_three_processes_get_exactly_the_teams_limit(
    pool: PgPool,
) {
    let mut keys = vec![key(&pool, 1_000).await.hash()];
    keys.extend(more_keys(&pool, 19).await);
    limit_team(&pool, 2_500).await;
    let processes = [(); 3].map(|()| Rates::start(pool.clone()));
    let rates = processes.each_ref();
    until_listening(&pool, 3).await;
    enough_of_the_minute(&pool).await;
    let mut count = 0;
    for _ in 0..4 {
        count += admitted_of(&rates, &keys, 500).await;
    }
    assert_eq!(
        count, 2_000,
        "nothing is refused while a part of the limit is left"
    );
    count += admitted_of(&rates, &keys, 1_000).await;
    assert_eq!(count, 2_500);
    assert_eq!(admitted_of(&rates, &keys, 100).await, 0);
}

#[sqlx::test(migrations = false)]
async fn case_38_what_a_process_holds_of_a_team_is_given_to_who_needs_it(pool: PgPool) {
    let mut keys = vec![key(&pool, 1_000).await.hash()];
    keys.extend(more_keys(&pool, 4).await);
    limit_team(&pool, 800).await;
    let (idle, busy) = (Rates::start(pool.clone()), Rates::start(pool.clone()));
    until_listening(&pool, 2).await;
    enough_of_the_minute(&pool).await;
    // Each key has a share of its own and has spent one request of it. Both have shares of the
    // team's 800.
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
    assert_eq!(admitted_of(&[&rates], &[first], 12).await, 10);
    let refused = rates.admit(first, RatePolicy::Submit).await.unwrap();
    assert!(matches!(refused, Admission::Refused(_, RateScope::Key)));
    assert_eq!(admitted_of(&[&rates], &[second], 10).await, 5);
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
    // Requests of two seconds at once, and of five more seconds during the longest wait.
    let admitted = answers
        .iter()
        .filter(|(answer, _)| matches!(answer, Admission::Admitted(_)));
    let longest = admitted.clone().map(|(_, took)| *took).max().unwrap();
    let admitted = u32::try_from(admitted.count()).unwrap();
    // And as many as a slow machine sent later.
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
