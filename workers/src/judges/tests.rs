//! Turns, and what becomes of an item in one.

use std::{fs, sync::atomic::AtomicBool, sync::atomic::Ordering::Relaxed};

use domain::media::OnFailure;
use futures::future::join_all;
use sqlx::{ConnectOptions as _, PgPool};
use store::schema::{self, PoolSettings};
use tokio::{runtime, task::spawn_blocking};
use uuid::Uuid;

use super::*;
use crate::{
    groups::{
        RuleSettings,
        tests::{new_team, new_version, regex},
    },
    rules::verdict_on,
};

fn team(number: u128) -> TeamId {
    Uuid::from_u128(number).into()
}

#[test]
fn case_40_a_team_is_quick_once_it_has_shown_it_and_slow_until_its_debt_is_forgiven() {
    let (mut paces, start) = (Paces::default(), Instant::now());
    assert!(!paces.is_quick(team(1), start), "nobody knows it");
    for _ in 0..SHOWN {
        paces.judged(team(1), Duration::from_millis(1), start);
    }
    assert!(paces.is_quick(team(1), start));
    // Now and then one may take longer.
    paces.judged(team(1), Duration::from_millis(30), start);
    assert!(paces.is_quick(team(1), start));
    paces.judged(team(1), Duration::from_secs(1), start);
    assert!(!paces.is_quick(team(1), start));
    for _ in 0..1_000 {
        paces.judged(team(1), Duration::from_millis(1), start);
    }
    assert!(!paces.is_quick(team(1), start), "quick ones buy nothing");
    assert!(!paces.is_quick(team(1), start + Duration::from_mins(1)));
    assert!(paces.is_quick(team(1), start + Duration::from_mins(2)));
}

#[test]
fn case_40_only_so_many_teams_are_remembered_and_the_latest_ones() {
    let (mut paces, now) = (Paces::default(), Instant::now());
    for number in 0..5 * TEAMS as u128 {
        paces.judged(team(number), Duration::ZERO, now);
        assert!(paces.recent.len() <= TEAMS && paces.older.len() <= TEAMS);
    }
    assert!(paces.find(team(0)).is_none());
    assert!(paces.find(team(5 * TEAMS as u128 - 1)).is_some());
}

fn item(team: TeamId, text: &str, versions: &[GroupVersionId]) -> ToJudge {
    ToJudge {
        media: Uuid::now_v7().into(),
        team,
        text: Some(text.into()),
        has_image: false,
        image_matches: Vec::new(),
        group_versions: versions.to_vec(),
        shadows: Vec::new(),
        image_scored: false,
        scores: None,
        unchecked: Vec::new(),
        on_failure: OnFailure::Review,
        age_ms: 0,
    }
}

/// Judging moves other tasks to other threads, which the runtime of `sqlx::test` does not have.
async fn on_threads<F: Future<Output = ()>>(
    pool: PgPool,
    test: impl FnOnce(PgPool) -> F + Send + 'static,
) {
    schema::migrate(&pool).await.unwrap();
    let url = pool.connect_options().to_url_lossy().to_string();
    let running = spawn_blocking(move || {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let settings = PoolSettings {
                connections: 4,
                acquire: Duration::from_secs(30),
            };
            let pool = schema::pool(&url, "test", settings).unwrap();
            test(pool.clone()).await;
            pool.close().await;
        });
    });
    running.await.unwrap();
}

fn judges(pool: &PgPool, at_once: usize) -> Judges {
    let settings = RuleSettings {
        limits: domain::rules::Limits {
            time: Duration::from_mins(2),
            ..domain::rules::Limits::default()
        },
        ..RuleSettings::default()
    };
    Judges::at_once(Groups::new(pool.clone(), settings), at_once)
}

#[sqlx::test(migrations = false)]
async fn case_36_a_version_that_is_too_heavy_sends_the_item_to_a_person_and_others_still_reject(
    pool: PgPool,
) {
    on_threads(pool, |pool| async move {
        let judges = judges(&pool, 2);
        let team = new_team(&pool, "team").await;
        let heavy = new_version(&pool, team, vec![regex("\\w{190}"); 40]).await;
        let light = new_version(&pool, team, vec![regex("bad")]).await;
        for (text, status, reason) in [
            ("good", "pending_review", "needs too much memory or time"),
            ("bad", "rejected", ""),
        ] {
            let versions = [heavy, light];
            let item = item(team, text, &versions);
            let examined = judges.examine(team, &item, &versions, None).await.unwrap();
            let verdict = verdict_on(&item, examined);
            assert_eq!(verdict.status.as_str(), status);
            assert!(verdict.reason.unwrap_or_default().contains(reason));
            assert_eq!(verdict.trace.unchecked[0].what(), "rules_too_heavy");
        }
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_40_a_backlog_is_judged_by_as_many_threads_as_there_are_processors(pool: PgPool) {
    on_threads(pool, |pool| async move {
        let judges = judges(&pool, 2);
        let team = new_team(&pool, "team").await;
        let version = new_version(&pool, team, vec![regex("(a|b)*a(a|b){30}c")]).await;
        let text = "abbabaaabbbababbaab".repeat(100);
        let item = Arc::new(item(team, &text, &[version]));
        // One before, so that what compiling takes is not counted.
        judges.examine(team, &item, &[version], None).await.unwrap();
        let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let done = Arc::new(AtomicBool::new(false));
        let counting = std::thread::spawn({
            let done = Arc::clone(&done);
            move || {
                let mut most = 0;
                while !done.load(Relaxed) {
                    most = most.max(threads());
                    std::thread::sleep(Duration::from_millis(1));
                }
                most
            }
        });
        let before = threads();
        let judging = (0..64).map(|_| {
            let (judges, item) = (judges.clone(), Arc::clone(&item));
            tokio::spawn(async move {
                let examined = judges.examine(team, &item, &[version], None).await;
                assert_eq!(examined.unwrap().len(), 1);
            })
        });
        for judged in join_all(judging.collect::<Vec<_>>()).await {
            judged.unwrap();
        }
        done.store(true, Relaxed);
        let most = counting.join().unwrap();
        // The runtime replaces a thread that judges, and keeps idle ones for ten seconds. With a turn for each item there were 58.
        assert!(most <= before + 40, "{before} threads became {most}");
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_40_a_team_with_slow_judgements_leaves_a_processor_to_others(pool: PgPool) {
    on_threads(pool, |pool| async move {
        let judges = judges(&pool, 2);
        let slow = new_team(&pool, "slow").await;
        let quick = new_team(&pool, "quick").await;
        let held = judges.turn(slow).await;
        let mut next = Box::pin(judges.turn(slow));
        assert!(
            futures::poll!(&mut next).is_pending(),
            "it is not known yet"
        );
        let other = judges.turn(quick).await;
        drop(held);
        let second = next.await;
        drop((second, other));
        // Known to be quick, it may have both.
        for _ in 0..SHOWN {
            judges.turn(quick).await.work(|| ());
        }
        let both = (judges.turn(quick).await, judges.turn(quick).await);
        // What waits meanwhile and was quick when it came is not any more.
        let mut late = [Box::pin(judges.turn(quick)), Box::pin(judges.turn(quick))];
        for waiting in &mut late {
            assert!(futures::poll!(waiting).is_pending());
        }
        let long = Duration::from_secs(1);
        lock(&judges.paces).judged(quick, long, Instant::now());
        drop(both);
        let [mut one, mut other] = late;
        // Both are woken, and both give back what they may not have any more.
        assert!(futures::poll!(&mut one).is_pending());
        assert!(futures::poll!(&mut other).is_pending());
        let one = one.await;
        assert!(futures::poll!(&mut other).is_pending(), "it has one");
        drop(one);
        drop(other.await);
    })
    .await;
}
