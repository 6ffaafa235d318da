//! Turns, and what happens to an item in its turn.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use domain::media::OnFailure;
use futures::future::join_all;
use sqlx::PgPool;
use store::schema;
use uuid::Uuid;

use super::*;
use crate::{
    findings::verdict_on,
    rule_group_cache::{
        RuleSettings,
        tests::{new_team, new_version, regex},
    },
};

fn team(number: u128) -> TeamId {
    Uuid::from_u128(number).into()
}

fn item(team: TeamId, text: &str, versions: &[GroupVersionId]) -> Arc<ToJudge> {
    Arc::new(ToJudge {
        media: Uuid::now_v7().into(),
        trace: telemetry::trace::Context::of_item([7; 16]),
        team,
        text: Some(text.into()),
        has_image: false,
        image_matches: Vec::new(),
        group_versions: versions.to_vec(),
        shadows: Vec::new(),
        image_scored: false,
        scores: None,
        gaps: Vec::new(),
        unchecked: Vec::new(),
        on_failure: OnFailure::Review,
        age_ms: 0,
    })
}

fn rule_pool(pool: &PgPool, at_once: usize) -> RulePool {
    let settings = RuleSettings {
        limits: domain::rules::Limits {
            time: Duration::from_mins(2),
            ..domain::rules::Limits::default()
        },
        ..RuleSettings::default()
    };
    RulePool::at_once(RuleGroupCache::new(pool.clone(), settings), at_once)
}

#[sqlx::test(migrations = false)]
async fn case_36_a_version_that_is_too_heavy_sends_the_item_to_a_person_and_others_still_reject(
    pool: PgPool,
) {
    schema::migrate(&pool).await.unwrap();
    let rule_pool = rule_pool(&pool, 2);
    let team = new_team(&pool, "team").await;
    let heavy = new_version(&pool, team, vec![regex("\\w{190}"); 40]).await;
    let light = new_version(&pool, team, vec![regex("bad")]).await;
    for (text, status, reason) in [
        ("good", "pending_review", "needs too much memory or time"),
        ("bad", "rejected", ""),
    ] {
        let versions = [heavy, light];
        let item = item(team, text, &versions);
        let examined = rule_pool
            .examine(team, &item, &versions, None)
            .await
            .unwrap();
        let verdict = verdict_on(&item, examined);
        assert_eq!(verdict.status.as_str(), status);
        assert!(verdict.reason.unwrap_or_default().contains(reason));
        assert_eq!(verdict.trace.unchecked[0].what(), "rules_too_heavy");
    }
}

#[sqlx::test(migrations = false)]
async fn case_40_a_backlog_is_judged_by_as_many_threads_as_there_are_processors(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let rule_pool = rule_pool(&pool, 2);
    let team = new_team(&pool, "team").await;
    let version = new_version(&pool, team, vec![regex("(a|b)*a(a|b){30}c")]).await;
    let text = "abbabaaabbbababbaab".repeat(100);
    let item = item(team, &text, &[version]);
    // One before, so that what compiling takes is not counted.
    rule_pool
        .examine(team, &item, &[version], None)
        .await
        .unwrap();
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let done = Arc::new(AtomicBool::new(false));
    let counting = thread::spawn({
        let done = Arc::clone(&done);
        move || {
            let mut most = 0;
            while !done.load(Relaxed) {
                most = most.max(threads());
                thread::sleep(Duration::from_millis(1));
            }
            most
        }
    });
    let before = threads();
    let judging = (0..64).map(|_| {
        let (rule_pool, item) = (rule_pool.clone(), Arc::clone(&item));
        tokio::spawn(async move {
            let examined = rule_pool.examine(team, &item, &[version], None).await;
            assert_eq!(examined.unwrap().len(), 1);
        })
    });
    for judged in join_all(judging.collect::<Vec<_>>()).await {
        judged.unwrap();
    }
    done.store(true, Relaxed);
    let most = counting.join().unwrap();
    // Two for brief ones, and two that lost their priority. With a turn for each item there were 58.
    assert!(most <= before + 4, "{before} threads became {most}");
}

#[sqlx::test(migrations = false)]
async fn case_40_a_team_with_slow_judgements_has_turns_and_threads_of_its_own(pool: PgPool) {
    let rule_pool = rule_pool(&pool, 2);
    let (hostile, quick) = (team(1), team(2));
    // What waits, and was quick when it came, is not any more.
    let first = rule_pool.turn(hostile).await;
    let mut waiting = [
        Box::pin(rule_pool.turn(hostile)),
        Box::pin(rule_pool.turn(hostile)),
    ];
    for turn in &mut waiting {
        assert!(futures::poll!(turn).is_pending());
    }
    lock(&rule_pool.paces).judged(hostile, Duration::from_secs(1), Instant::now());
    drop(first);
    let [one, mut other] = waiting;
    let one = one.await;
    assert_eq!(one.speed, Speed::Slow);
    assert!(
        futures::poll!(&mut other).is_pending(),
        "it leaves as much as it has"
    );
    // None of that takes a turn from a quick team.
    drop(rule_pool.turn(quick).await);
    let usual = priority();
    let worked = rule_pool.work(one, priority).await.unwrap();
    assert!(worked > usual || usual == 19);
    drop(other.await);
}

#[sqlx::test(migrations = false)]
async fn case_40_a_judgement_that_is_not_brief_leaves_its_turn_and_its_priority(pool: PgPool) {
    let rule_pool = rule_pool(&pool, 1);
    let (hostile, quick) = (team(1), team(2));
    let (usual, stop) = (priority(), Arc::new(AtomicBool::new(false)));
    let turn = rule_pool.turn(hostile).await;
    assert_eq!(turn.speed, Speed::Quick);
    let endless = rule_pool.work(turn, {
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Relaxed) {}
            priority()
        }
    });
    let others = async {
        let turn = rule_pool.turn(quick).await;
        let worked = rule_pool.work(turn, priority).await;
        stop.store(true, Relaxed);
        worked.unwrap()
    };
    let (lowered, other) = tokio::join!(endless, others);
    // It took a turn among the slow, and gave it back.
    assert!(lowered.unwrap() > usual || usual == 19);
    assert_eq!(other, usual);
    assert_eq!(rule_pool.turn(hostile).await.speed, Speed::Slow);
}

/// That of the thread that asks: the higher, the less it gets.
fn priority() -> i32 {
    rustix::process::nice(0).unwrap()
}

#[test]
fn case_40_a_team_is_slow_whose_judgements_take_much_of_a_processor() {
    let (mut paces, start) = (CpuUsage::default(), Instant::now());
    assert_eq!(paces.speed(team(1), start), Speed::Quick);
    // For ten seconds, a hundred a second that take 50 us each, and now and then one that takes longer.
    let mut now = start;
    for number in 0..1_000 {
        now += Duration::from_millis(10);
        let took = Duration::from_micros(if number % 500 == 0 { 50_000 } else { 50 });
        paces.judged(team(1), took, now);
        assert_eq!(paces.speed(team(1), now), Speed::Quick);
    }
    // As many that take 3 ms each are none of them long, and together a third of a processor.
    for _ in 0..1_000 {
        now += Duration::from_millis(10);
        paces.judged(team(1), Duration::from_millis(3), now);
    }
    assert_eq!(paces.speed(team(1), now), Speed::Slow);
    paces.judged(team(1), Duration::from_mins(1), now);
    let after = |seconds| now + Duration::from_secs(seconds);
    assert_eq!(paces.speed(team(1), after(90)), Speed::Slow);
    assert_eq!(paces.speed(team(1), after(100)), Speed::Quick);
}

#[test]
fn case_40_only_so_many_teams_are_remembered_and_the_latest_ones() {
    let (mut paces, now) = (CpuUsage::default(), Instant::now());
    for number in 0..5 * TEAMS as u128 {
        paces.judged(team(number), Duration::ZERO, now);
        assert!(paces.recent.len() <= TEAMS && paces.older.len() <= TEAMS);
    }
    assert!(paces.find(team(0)).is_none());
    assert!(paces.find(team(5 * TEAMS as u128 - 1)).is_some());
}
