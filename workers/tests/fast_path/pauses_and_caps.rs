//! Pauses and caps of the rules or the analysis are respected, and the acceptance is sent
//! nevertheless.

use std::time::Duration;

use queue::{Group, Lane, groups, lanes, queues};
use serde_json::json;
use sqlx::PgPool;
use store::jobs::{ANALYSIS, RULES};

use crate::fixture::Fixture;

const ANALYSED: &str = "select count(*) from analyses";
const DECIDED: &str = "select count(*) from verdicts";
const CREATED: &str = "select count(*) from events where kind = 'media.created'";
const ASIDE: &str = "select count(*) from queue.jobs where queue = 'rules' and format = 0";

#[sqlx::test(migrations = false)]
async fn case_62_paused_or_capped_rules_judge_nothing_and_the_acceptance_is_sent(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let rules = [
        json!({"name": "v", "type": "ai_threshold", "category": "violence", "review_at": 0.3, "reject_at": 0.8}),
    ];
    let (_, live) = fixture.version(&rules).await;
    let working = fixture.work(&[ANALYSIS, RULES]);
    fixture.fast_path(&[live], true).await;
    fixture.decided().await;
    let lane = Lane(fixture.team.as_uuid());
    let mut conn = fixture.pool.acquire().await.unwrap();
    let group = Group(fixture.team.as_uuid());
    for held in [
        "the group is paused",
        "the group is capped",
        "the queue is paused",
        "the lane is paused",
        "the lane is capped",
    ] {
        match held {
            "the group is paused" => groups::pause(&mut conn, RULES, group, None).await.unwrap(),
            "the group is capped" => groups::set_cap(&mut conn, RULES, group, Some(0))
                .await
                .unwrap(),
            "the queue is paused" => queues::pause(&mut conn, RULES, None).await.unwrap(),
            "the lane is paused" => lanes::pause(&mut conn, RULES, lane, None).await.unwrap(),
            _ => lanes::set_cap(&mut conn, RULES, lane, Some(0))
                .await
                .unwrap(),
        }
        let [analysed, decided, created] = [
            fixture.count(ANALYSED).await,
            fixture.count(DECIDED).await,
            fixture.count(CREATED).await,
        ];
        fixture.submit(&[live], true, "a text").await;
        fixture
            .until(held, async || fixture.count(ANALYSED).await == analysed + 1)
            .await;
        assert_eq!(fixture.count(ASIDE).await, 1, "{held}");
        assert_eq!(fixture.count(CREATED).await, created + 1, "{held}");
        tokio::time::sleep(Duration::from_millis(700)).await;
        assert_eq!(fixture.count(DECIDED).await, decided, "{held}");
        match held {
            "the group is paused" => _ = groups::resume(&mut conn, RULES, group).await.unwrap(),
            "the group is capped" => groups::set_cap(&mut conn, RULES, group, None)
                .await
                .unwrap(),
            "the queue is paused" => _ = queues::resume(&mut conn, RULES).await.unwrap(),
            "the lane is paused" => _ = lanes::resume(&mut conn, RULES, lane).await.unwrap(),
            _ => lanes::set_cap(&mut conn, RULES, lane, None).await.unwrap(),
        }
        fixture
            .until(held, async || fixture.count(DECIDED).await == decided + 1)
            .await;
        assert_eq!(fixture.count(CREATED).await, created + 1, "{held}: once");
    }
    working.stop().await;
}

#[sqlx::test(migrations = false)]
async fn case_62_acceptances_are_sent_at_once_while_the_first_job_would_wait(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let (_, live) = fixture.version(&[]).await;
    // No worker runs, so the acceptance is sent at once.
    fixture.submit(&[live], true, "a text").await;
    assert_eq!(fixture.count(CREATED).await, 1);
    let working = fixture.work(&[ANALYSIS, RULES]);
    fixture.fast_path(&[live], true).await;
    fixture.fast_path(&[live], false).await;
    fixture.decided().await;
    let lane = Lane(fixture.team.as_uuid());
    let mut conn = fixture.pool.acquire().await.unwrap();
    for (queue, uses_ai) in [(ANALYSIS, true), (RULES, false)] {
        for is_lane in [false, true] {
            if is_lane {
                lanes::pause(&mut conn, queue, lane, None).await.unwrap();
            } else {
                queues::pause(&mut conn, queue, None).await.unwrap();
            }
            // This is checked once a second.
            fixture
                .until("told at once", async || {
                    let created = fixture.count(CREATED).await;
                    fixture.submit(&[live], uses_ai, "a text").await;
                    fixture.count(CREATED).await == created + 1
                })
                .await;
            if is_lane {
                lanes::resume(&mut conn, queue, lane).await.unwrap();
            } else {
                queues::resume(&mut conn, queue).await.unwrap();
            }
            fixture.queue.wake([queue]);
            fixture.decided().await;
            let items = fixture.count("select count(*) from media").await;
            assert_eq!(fixture.count(CREATED).await, items, "each is told once");
            fixture.fast_path(&[live], uses_ai).await;
            fixture.decided().await;
        }
    }
    drop(conn);
    working.stop().await;
    // An orderly stop is reported, so that nobody relies on this process any more.
    fixture
        .until("nobody works", async || {
            let created = fixture.count(CREATED).await;
            fixture.submit(&[live], true, "a text").await;
            fixture.count(CREATED).await == created + 1
        })
        .await;
}
