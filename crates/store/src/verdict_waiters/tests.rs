use sqlx::PgPool;
use tokio::time::timeout;
use uuid::Uuid;

use super::*;

fn media() -> MediaId {
    MediaId::from(Uuid::now_v7())
}

fn team() -> TeamId {
    TeamId::from(Uuid::now_v7())
}

/// Whether it was woken already.
async fn is_woken(expected: &Expected) -> bool {
    timeout(Duration::ZERO, expected.woken()).await.is_ok()
}

#[sqlx::test(migrations = false)]
async fn a_team_leaves_places_to_others(pool: PgPool) {
    let awaited = VerdictWaiters::with_places(&pool, Part::Interface, 4);
    let (greedy, other) = (team(), team());
    let places = [
        awaited.expect(greedy, media()),
        awaited.expect(greedy, media()),
    ];
    assert!(places.iter().all(Result::is_ok));
    assert_eq!(awaited.expect(greedy, media()).unwrap_err(), Spent);
    awaited.expect(other, media()).unwrap();
    drop(places);
    assert_eq!(awaited.waiting(), 0);
    assert!(awaited.waiting.lock().is_empty(), "nothing is left of them");
}

#[sqlx::test(migrations = false)]
async fn a_verdict_wakes_all_that_wait_for_its_item_and_nobody_else(pool: PgPool) {
    let awaited = VerdictWaiters::start(&pool, Part::Both);
    let (item, team) = (media(), team());
    let first = awaited.expect(team, item).unwrap();
    let second = awaited.expect(team, item).unwrap();
    let other = awaited.expect(team, media()).unwrap();
    awaited.decided(item, None);
    assert!(is_woken(&first).await);
    assert!(is_woken(&second).await);
    assert!(!is_woken(&other).await);
    let verdict = Verdict {
        status: Status::Rejected,
        details: "{}".into(),
    };
    awaited.decided(item, Some(&verdict));
    for place in [&first, &second] {
        let verdict = place.woken().await.expect("it is this process's own");
        assert_eq!(verdict.status, Status::Rejected);
    }
    awaited.decided(item, None);
    assert!(first.woken().await.is_none(), "it is given once");
    assert!(is_woken(&second).await);
    drop(first);
    awaited.decided(item, None);
    assert!(
        is_woken(&second).await,
        "it waits on after the other has gone"
    );
}

#[sqlx::test(migrations = false)]
async fn verdicts_of_another_process_wake_too(pool: PgPool) {
    let listening = VerdictWaiters::start(&pool, Part::Interface);
    let telling = VerdictWaiters::start(&pool, Part::Workers);
    let items: Vec<MediaId> = (0..1_000).map(|_| media()).collect();
    let team = team();
    let expected: Vec<Expected> = items
        .iter()
        .map(|item| listening.expect(team, *item).unwrap())
        .collect();
    // It wakes all when it has begun to listen, so that nobody waits for what was told before.
    expected[0].woken().await;
    for place in &expected[1..] {
        place.woken().await;
    }
    for item in &items {
        telling.decided(*item, None);
    }
    for place in &expected {
        let woken = timeout(Duration::from_mins(1), place.woken()).await;
        woken.expect("a verdict is told");
    }
}
