//! Decisions of the review desk, while the service is killed. Each name begins with the number of its case in
//! `docs/reliability.md`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Mutex,
    time::Duration,
};

use reqwest::Client;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use crate::support::{DataDir, SOON, Up, eventually, http};

/// For thousands of items.
const LATE: Duration = Duration::from_mins(5);
/// A text that the demo's rules send to a person.
const DOUBTFUL: &str = "see review-2024 for the details";

/// Two people who never pause ask more often than people do.
const OFTEN: [&str; 6] = [
    "--management-requests-per-token",
    "1000000",
    "--management-requests-per-team",
    "1000000",
    "--management-requests-per-address",
    "1000000",
];

/// Somebody with a token of the demo's team.
struct Person {
    http: Client,
    token: String,
}

impl Person {
    async fn new(up: &Up, name: &str) -> Self {
        Self::with(up, name, "media:decide").await
    }

    /// Somebody who leads reviews.
    async fn lead(up: &Up) -> Self {
        Self::with(up, "lead", "reviews:manage").await
    }

    async fn with(up: &Up, name: &str, scope: &str) -> Self {
        let token = json!({ "name": name, "scopes": [scope] });
        let (code, token) = up.manage("/tokens", &token).await;
        assert_eq!(code, 201, "{token}");
        Self {
            http: http(),
            token: token["secret"].as_str().unwrap().to_owned(),
        }
    }

    /// A request that may fail, because nobody is there.
    async fn send(&self, up: &Up, method: &str, path: &str, body: Value) -> Option<(u16, Value)> {
        let base = up.demo().base_url.replace("/functions/", "/management/");
        let request = self
            .http
            .request(method.parse().unwrap(), format!("{base}{path}"));
        let request = request.bearer_auth(&self.token).json(&body);
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        Some((status, answer.json().await.unwrap_or_default()))
    }

    async fn claim(&self, up: &Up, limit: usize) -> Option<Vec<String>> {
        let (code, claimed) = self
            .send(up, "POST", "/reviews/claim", json!({ "limit": limit }))
            .await?;
        let reviews = claimed["data"].as_array().filter(|_| code == 200)?;
        let ids = reviews
            .iter()
            .map(|review| review["id"].as_str().unwrap().to_owned());
        Some(ids.collect())
    }

    async fn decide(&self, up: &Up, review: &str, ruling: &str) -> Option<u16> {
        let decision = json!({ "decision": ruling, "reason": "As it is." });
        let path = format!("/reviews/{review}/decision");
        Some(self.send(up, "POST", &path, decision).await?.0)
    }
}

async fn in_review(up: &Up, items: usize) {
    for _ in 0..items {
        let media = up.submit(json!({ "body": DOUBTFUL })).await;
        let verdict = up.verdict(&media).await;
        assert_eq!(verdict["status"], "pending_review", "{verdict}");
    }
}

/// Many items that wait for a person.
async fn many_in_review(up: &Up, pool: &PgPool, items: usize) {
    sqlx::query("update plans set submissions_per_minute = 1000000")
        .execute(pool)
        .await
        .unwrap();
    for _ in 0..items {
        up.submit(json!({ "body": DOUBTFUL })).await;
    }
    let expected = i64::try_from(items).unwrap();
    eventually("all wait for a person", LATE, async || {
        (count(pool, "select count(*) from review_tasks").await == expected).then_some(())
    })
    .await;
}

async fn undo_within(up: &Up, seconds: u64) {
    let path = format!("/sites/{}/desk", up.demo().site_id);
    let (code, settings) = up.patch(&path, &json!({ "undo_seconds": seconds })).await;
    assert_eq!(code, 200, "{settings}");
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

/// Every verdict of a person, and every event that tells one, is there once for each item.
async fn assert_told_once(pool: &PgPool) {
    let twice = "select count(*) from (
                     select media_id from verdicts where moderation_type = 'manual' group by 1 having count(*) > 1
                 ) twice";
    assert_eq!(count(pool, twice).await, 0);
    let untold = "select count(*)
                  from verdicts v
                  where v.moderation_type = 'manual' and (
                      select count(*) from events e where e.media_id = v.media_id and e.verdict = v.number
                  ) <> 1";
    assert_eq!(count(pool, untold).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_81_what_was_decided_is_told_once_and_what_was_undone_never_although_all_is_killed() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let pool = PgPool::connect(&data.database()).await.unwrap();
    // Long enough to undo one and to kill the service before the others are told, however busy the machine is.
    undo_within(&up, 15).await;
    in_review(&up, 3).await;
    let person = Person::new(&up, "moderator").await;
    let reviews = person.claim(&up, 3).await.unwrap();
    assert_eq!(reviews.len(), 3);
    for (review, ruling) in reviews.iter().zip(["approve", "reject", "approve"]) {
        assert_eq!(person.decide(&up, review, ruling).await, Some(200));
    }
    let path = format!("/reviews/{}/decision", reviews[2]);
    let undone = person.send(&up, "DELETE", &path, json!({})).await.unwrap();
    assert_eq!(undone.0, 200, "{undone:?}");
    up.kill();
    let waiting = "select count(*) from reviews";
    assert_eq!(count(&pool, waiting).await, 3);

    let up = Up::start(&data, &[]).await;
    eventually("both decisions are told", SOON, async || {
        (count(&pool, waiting).await == 1).then_some(())
    })
    .await;
    // The job of the undone decision has run.
    let jobs = "select count(*) from queue.jobs where queue = 'reviews'";
    eventually("no job is left", SOON, async || {
        (count(&pool, jobs).await == 0).then_some(())
    })
    .await;
    assert_told_once(&pool).await;
    let statuses: Vec<String> = sqlx::query_scalar("select status from media order by 1")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(statuses, ["approved", "pending_review", "rejected"]);
    assert_eq!(person.claim(&up, 3).await.unwrap(), [reviews[2].clone()]);
    // Whoever waits for the answer of a killed process decides again, and is told that it was decided.
    let again = person.decide(&up, &reviews[0], "approve").await;
    assert_eq!(again, Some(404));
}

#[tokio::test(flavor = "multi_thread")]
async fn case_82_no_review_is_lost_or_shown_to_two_people_while_the_service_is_killed() {
    two_people_decide_while_all_is_killed(60).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn case_82_of_2000_reviews_none_is_lost_or_shown_to_two_people() {
    two_people_decide_while_all_is_killed(2_000).await;
}

async fn two_people_decide_while_all_is_killed(items: usize) {
    let data = DataDir::new();
    let mut up = Up::start(&data, &OFTEN).await;
    let pool = PgPool::connect(&data.database()).await.unwrap();
    undo_within(&up, 1).await;
    many_in_review(&up, &pool, items).await;
    let people = [
        Person::new(&up, "first").await,
        Person::new(&up, "second").await,
    ];
    let shown: [Mutex<BTreeMap<String, usize>>; 2] = Default::default();
    let waiting = "select count(*) from reviews";
    let mut kills = 0;
    while count(&pool, waiting).await > 0 {
        let working = people.iter().zip(&shown).map(|(person, shown)| {
            let up = &up;
            async move {
                loop {
                    let Some(reviews) = person.claim(up, 2).await else {
                        sleep(Duration::from_millis(20)).await;
                        continue;
                    };
                    for review in &reviews {
                        *shown.lock().unwrap().entry(review.clone()).or_default() += 1;
                        let ruling = if review.as_str() < "8" {
                            "approve"
                        } else {
                            "reject"
                        };
                        person.decide(up, review, ruling).await;
                    }
                    if reviews.is_empty() {
                        sleep(Duration::from_millis(50)).await;
                    }
                }
            }
        });
        let all = futures::future::join_all(working);
        // A time that differs from run to run: kills shall hit every moment. Later times are longer, so that a busy machine gets to
        // the end.
        let moment =
            300 + u64::from(rand::random::<u16>() % 900) + 25 * u64::try_from(kills).unwrap();
        let moment = Duration::from_millis(moment);
        let _: Result<Vec<()>, _> = timeout(moment, all).await;
        up.kill();
        kills += 1;
        assert!(
            kills < 100.max(items / 4),
            "{} reviews are left",
            count(&pool, waiting).await
        );
        up = Up::start(&data, &OFTEN).await;
    }
    assert!(kills > 1, "nothing was killed while people worked");
    assert_told_once(&pool).await;
    let decided = "select count(*) from verdicts where moderation_type = 'manual'";
    assert_eq!(count(&pool, decided).await, i64::try_from(items).unwrap());
    let [first, second] = shown.map(|shown| shown.into_inner().unwrap());
    let first: BTreeSet<&String> = first.keys().collect();
    let both: Vec<_> = second
        .keys()
        .filter(|review| first.contains(review))
        .collect();
    assert!(both.is_empty(), "shown to two people: {both:?}");
    assert_eq!(first.len() + second.len(), items);
    assert_eq!(count(&pool, "select count(*) from review_tasks").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn case_83_a_bulk_decision_is_told_once_or_undone_although_all_is_killed() {
    const ITEMS: usize = 150;
    let data = DataDir::new();
    let mut up = Up::start(&data, &[]).await;
    let pool = PgPool::connect(&data.database()).await.unwrap();
    undo_within(&up, 20).await;
    for item in 0..2 * ITEMS {
        let text = if item % 2 == 0 { "even" } else { "odd" };
        let item = json!({ "body": format!("{DOUBTFUL} {text}"), "app_media_id": text });
        up.submit(item).await;
    }
    let waiting = "select count(*) from reviews";
    eventually("all wait for a person", SOON, async || {
        (count(&pool, waiting).await == i64::try_from(2 * ITEMS).unwrap()).then_some(())
    })
    .await;
    let reviews = async |text: &str| -> Vec<String> {
        sqlx::query_scalar(
            "select t.id::text from review_tasks t join media m on m.id = t.media_id where m.app_media_id = $1",
        )
        .bind(text)
        .fetch_all(&pool)
        .await
        .unwrap()
    };
    let (even, odd) = (reviews("even").await, reviews("odd").await);
    assert_eq!((even.len(), odd.len()), (ITEMS, ITEMS));

    // The first one is undone while it is held, and the service is killed right after the answer.
    let person = Person::lead(&up).await;
    let approval = json!({ "decision": "approve", "review_ids": even });
    let started = person.send(&up, "POST", "/reviews/bulk", approval).await;
    let (code, bulk) = started.unwrap();
    assert_eq!(code, 202, "{bulk}");
    let held = "select count(*) from review_opinions where outcome is null";
    eventually("some are held", SOON, async || {
        (count(&pool, held).await > 0).then_some(())
    })
    .await;
    let path = format!("/reviews/bulk/{}", bulk["id"].as_str().unwrap());
    let undone = person.send(&up, "DELETE", &path, json!({})).await.unwrap();
    assert_eq!(undone.0, 200, "{undone:?}");
    up.kill();
    assert_eq!(count(&pool, held).await, 0);

    // The second one is killed while it is made, more than once, and is told in the end.
    up = Up::start(&data, &[]).await;
    undo_within(&up, 2).await;
    let rejection = json!({ "decision": "reject", "reason": "As it is.", "review_ids": odd });
    let started = person.send(&up, "POST", "/reviews/bulk", rejection).await;
    let (code, bulk) = started.unwrap();
    assert_eq!(code, 202, "{bulk}");
    for _ in 0..3 {
        sleep(Duration::from_millis(u64::from(rand::random::<u8>()))).await;
        up.kill();
        up = Up::start(&data, &[]).await;
    }
    let rejected = "select count(*) from media where status = 'rejected'";
    eventually("all are told", SOON * 2, async || {
        (count(&pool, rejected).await == i64::try_from(ITEMS).unwrap()).then_some(())
    })
    .await;
    // The jobs of the undone decisions have run, too.
    let jobs = "select count(*) from queue.jobs where queue in ('reviews', 'bulk-decisions')";
    eventually("no job is left", SOON, async || {
        (count(&pool, jobs).await == 0).then_some(())
    })
    .await;
    assert_told_once(&pool).await;
    let decided = "select count(*) from verdicts where moderation_type = 'manual'";
    assert_eq!(count(&pool, decided).await, i64::try_from(ITEMS).unwrap());
    let done: i32 = sqlx::query_scalar("select done from bulk_decisions where ruling = 'reject'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(usize::try_from(done).unwrap(), ITEMS);
    let approved = "select count(*) from media where status = 'approved'";
    assert_eq!(count(&pool, approved).await, 0);
}
