//! One run decides as two runs do.

use domain::id::GroupVersionId;
use serde_json::{Value, json};
use sqlx::{PgPool, types::Json};
use store::{
    jobs::{ANALYSIS, RULES, WEBHOOKS},
    rule_group::shadow,
};

use crate::fixture::Fixture;

const TEXTS: [&str; 7] = [
    "a fine day for a walk by the river",
    "so much blockedword in here",
    "see review-2024 for the details",
    "I will kill you, you worthless piece of shit",
    "this is a b.l.o.c.k.e.d.w.o.r.d, and I will kill you",
    // The built-in analyser does not know Chinese, so this has no scores.
    "今天天气很好，我们去公园散步",
    "call me at http://example.org/ for a free prize",
];

/// A stored verdict, without the time that it took.
#[derive(Debug, PartialEq, sqlx::FromRow)]
struct Stored {
    body: String,
    status: String,
    number: i16,
    verdict_status: String,
    moderation_type: String,
    details: Json<Value>,
    trace: Json<Value>,
    scores: Option<Json<Value>>,
    image_scored: Option<bool>,
    providers: Option<Json<Value>>,
    unchecked: Option<Json<Value>>,
    in_review: bool,
    shadows: i64,
}

async fn stored(pool: &PgPool) -> Vec<Stored> {
    let mut stored: Vec<Stored> = sqlx::query_as(
        "select m.body, m.status, m.verdict as number, v.status as verdict_status, v.moderation_type, v.details, v.trace,
                a.scores, a.image_scored, a.providers, a.unchecked,
                exists (select from reviews r where r.media_id = m.id) as in_review,
                (select count(*) from shadow_differences d where d.media_id = m.id) as shadows
         from media m
         join verdicts v on v.media_id = m.id
         left join analyses a on a.media_id = m.id
         where m.body <> 'which way?'
         order by m.id",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    for item in &mut stored {
        item.details.0["processing_time_ms"].take();
        for group in item.trace.0["groups"].as_array_mut().unwrap() {
            group["micros"].take();
        }
        for said in item
            .providers
            .iter_mut()
            .filter_map(|said| said.0.as_array_mut())
        {
            for said in said {
                said["elapsed_ms"].take();
            }
        }
    }
    stored
}

/// The results of shadows, without the slots of their counters.
async fn shadows(pool: &PgPool) -> Vec<(String, String, bool, i64)> {
    sqlx::query_as(
        "select live_status, shadow_status, unscored, sum(items)::bigint
         from shadow_counts group by 1, 2, 3 order by 1, 2, 3",
    )
    .fetch_all(pool)
    .await
    .unwrap()
}

async fn reset(fixture: &Fixture) {
    fixture
        .execute(
            "truncate media, verdicts, analyses, reviews, events, deliveries, shadow_counts, shadow_differences;
             delete from queue.jobs",
        )
        .await;
}

/// Judges all texts. Returns what is stored, and how many jobs that took.
async fn judged(
    fixture: &Fixture,
    versions: &[GroupVersionId],
    uses_ai: bool,
) -> (Vec<Stored>, Vec<(String, String, bool, i64)>) {
    for text in TEXTS {
        fixture.submit(versions, uses_ai, text).await;
    }
    fixture.decided().await;
    let found = (stored(&fixture.pool).await, shadows(&fixture.pool).await);
    reset(fixture).await;
    found
}

#[sqlx::test(migrations = false)]
async fn one_run_decides_exactly_as_two_runs_do(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let rules = [
        json!({"name": "words", "type": "keyword", "keywords": ["blockedword"], "effect": "reject"}),
        json!({"name": "years", "type": "regex", "pattern": "review-\\d+", "effect": "review"}),
        json!({"name": "violence", "type": "ai_threshold", "category": "violence", "review_at": 0.3, "reject_at": 0.8}),
        json!({"name": "hate", "type": "ai_threshold", "category": "hate", "review_at": 0.4, "reject_at": 0.9}),
    ];
    let (group, live) = fixture.version(&rules).await;
    let (_, strict) = fixture
        .version(&[json!({"name": "all", "type": "regex", "pattern": ".", "effect": "review"})])
        .await;
    // A version of another group is used: it only matters that it judges instead of the live one.
    let mut conn = fixture.pool.acquire().await.unwrap();
    shadow::set(&mut conn, group, Some(strict)).await.unwrap();
    drop(conn);
    // Too heavy to judge, within the bounds of these workers.
    let (_, heavy) = fixture
        .version(&vec![
            json!({"name": "r", "type": "regex", "pattern": "\\w{190}", "effect": "reject"});
            40
        ])
        .await;

    for on_failure in ["review", "reject", "approve"] {
        sqlx::query("update sites set on_failure = $1")
            .bind(on_failure)
            .execute(&fixture.pool)
            .await
            .unwrap();
        for versions in [vec![live], vec![live, heavy]] {
            let together = fixture.work(&[ANALYSIS, RULES]);
            let once = judged(&fixture, &versions, true).await;
            together.stop().await;
            let (analyst, judge) = (fixture.work(&[ANALYSIS]), fixture.work(&[RULES]));
            let twice = judged(&fixture, &versions, true).await;
            analyst.stop().await;
            judge.stop().await;
            assert_eq!(once, twice, "{on_failure}");
            assert_eq!(once.0.len(), TEXTS.len());
            assert!(!once.1.is_empty(), "shadows have judged");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn an_item_takes_one_job_and_each_of_its_events_is_told_once(pool: PgPool) {
    let fixture = Fixture::new(pool).await;
    let rules = [
        json!({"name": "v", "type": "ai_threshold", "category": "violence", "review_at": 0.3, "reject_at": 0.8}),
    ];
    let (_, live) = fixture.version(&rules).await;
    let working = fixture.work(&[ANALYSIS, RULES]);
    fixture.fast_path(&[live], true).await;
    fixture.decided().await;
    reset(&fixture).await;

    let before = fixture
        .count("select last_value from queue.jobs_id_seq")
        .await;
    for text in TEXTS {
        fixture.submit(&[live], true, text).await;
    }
    fixture.decided().await;
    let items = i64::try_from(TEXTS.len()).unwrap();
    // The queue itself takes no number of the sequence.
    let jobs = fixture
        .count("select last_value from queue.jobs_id_seq")
        .await
        - before;
    let webhooks = fixture
        .count("select count(*) from queue.jobs where queue = 'webhooks'")
        .await;
    assert_eq!(jobs - webhooks, items, "one job an item");
    assert!(webhooks > 0 && WEBHOOKS.as_str() == "webhooks");
    for (what, statement) in [
        (
            "created events of the acceptance's time",
            "select count(*) from events e join media m on m.id = e.media_id
             where e.kind = 'media.created' and e.occurred_at = m.created_at and e.verdict is null",
        ),
        (
            "moderated events",
            "select count(*) from events e join verdicts v on v.media_id = e.media_id and v.number = e.verdict
             where e.kind = 'media.moderated' and e.occurred_at = v.moderated_at",
        ),
        (
            "deliveries of acceptances",
            "select count(*) from deliveries d join events e on e.id = d.event_id where e.kind = 'media.created'",
        ),
        (
            "deliveries of verdicts",
            "select count(*) from deliveries d join events e on e.id = d.event_id where e.kind = 'media.moderated'",
        ),
    ] {
        assert_eq!(fixture.count(statement).await, items, "{what}");
    }
    // Their ids are those that the service derives.
    let ids: Vec<(uuid::Uuid, uuid::Uuid, uuid::Uuid)> =
        sqlx::query_as("select id, event_id, endpoint_id from deliveries")
            .fetch_all(&fixture.pool)
            .await
            .unwrap();
    for (id, event, endpoint) in ids {
        let derived = domain::id::DeliveryId::of(event.into(), endpoint.into());
        assert_eq!(derived.as_uuid(), id);
    }
    working.stop().await;
}
