//! `Prefer: wait` on `submit-media`: the answer waits for the verdict.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use reqwest::{Client, Response};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{
    Api, DataDir, SOON, Up, Worker, eventually, gatehouse, http, new_site, picture,
};

/// The longest wait.
const WAIT: &str = "wait=10";
/// Rejected by the built-in analysis and the rules of a new site.
const REJECTED: &str = "so much blockedword in here";

/// Where a test submits.
struct Place<'a> {
    http: &'a Client,
    base_url: &'a str,
    key: &'a str,
    metrics_url: &'a str,
}

impl Place<'_> {
    async fn submit(&self, prefer: Option<&str>, mut fields: Value) -> Response {
        fields["api_key"] = self.key.into();
        let mut request = self
            .http
            .post(format!("{}/submit-media", self.base_url))
            .json(&fields);
        if let Some(prefer) = prefer {
            request = request.header("prefer", prefer);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
        answer
    }

    /// Submits until the answer has the verdict. On a busy machine, a verdict may take longer than a wait.
    async fn decided(&self, fields: &Value) -> Value {
        eventually("an answer with the verdict", SOON, async || {
            let answer = self.submit(Some(WAIT), fields.clone()).await;
            assert_eq!(applied(&answer), Some(WAIT));
            let answer: Value = answer.json().await.unwrap();
            (answer["status"] != "pending").then_some(answer)
        })
        .await
    }

    async fn status(&self, media: &str) -> Value {
        let asked = json!({ "api_key": self.key, "media_id": media });
        let url = format!("{}/get-media-status", self.base_url);
        let answer = self.http.post(url).json(&asked).send().await.unwrap();
        answer.json().await.unwrap()
    }

    /// How many waits ended so.
    async fn waits(&self, outcome: &str) -> u64 {
        let metrics = self.http.get(self.metrics_url).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let line = format!("gatehouse_waits_total{{outcome=\"{outcome}\"}} ");
        let count = metrics.lines().find_map(|found| found.strip_prefix(&line));
        count.map_or(0, |count| count.parse().unwrap())
    }
}

fn place_of<'a>(api: &'a Api, key: &'a str) -> Place<'a> {
    Place {
        http: &api.http,
        base_url: &api.base_url,
        key,
        metrics_url: &api.metrics_url,
    }
}

fn applied(answer: &Response) -> Option<&str> {
    let applied = answer.headers().get("preference-applied");
    applied.map(|applied| applied.to_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_request_that_waits_has_the_verdict() {
    let data = DataDir::new();
    let up = Up::start(&data, &[]).await;
    let demo = up.demo();
    let http = http();
    let place = Place {
        http: &http,
        base_url: &demo.base_url,
        key: &demo.site_key,
        metrics_url: &demo.metrics_url,
    };
    for (text, status, action) in [
        (REJECTED, "rejected", "block"),
        ("a fine day for a walk by the river", "approved", "approve"),
        (
            "see review-2024 for the details",
            "pending_review",
            "review",
        ),
    ] {
        let answer = place.decided(&json!({ "body": text })).await;
        assert_eq!(answer["status"], status, "{answer}");
        assert_eq!(answer["action"], action);
        let asked = place.status(answer["id"].as_str().unwrap()).await;
        assert_eq!(answer["moderationResult"], asked["moderationResult"]);
        assert_eq!(asked["status"], status);
    }
    assert_eq!(place.waits("decided").await, 3);
    assert_eq!(place.waits("unnoticed").await, 0);

    // Nobody else notices that there is such a header.
    let answer = place.submit(None, json!({ "body": REJECTED })).await;
    assert_eq!(applied(&answer), None);
    let answer: Value = answer.json().await.unwrap();
    let mut members: Vec<_> = answer.as_object().unwrap().keys().collect();
    members.sort();
    assert_eq!(members, ["id", "message", "status"]);
    assert_eq!(answer["status"], "pending");
    up.verdict(answer["id"].as_str().unwrap()).await;
}

#[sqlx::test(migrations = false)]
async fn a_verdict_of_another_process_ends_the_wait(pool: PgPool) {
    let site = new_site(&pool);
    let api = Api::start(&pool).await;
    let _worker = Worker::launch(gatehouse(&pool)).await;
    let place = place_of(&api, &site.key);
    // The interface listens.
    eventually("a wait is woken", SOON, async || {
        let answer = place
            .submit(Some("wait=2"), json!({ "body": "hello" }))
            .await;
        let answer: Value = answer.json().await.unwrap();
        // A busy machine may take longer.
        if answer["status"] == "pending" {
            return None;
        }
        (place.waits("decided").await > 0).then_some(())
    })
    .await;
    let before = place.waits("unnoticed").await;
    // An image takes two jobs.
    let image = json!({ "body": "my holiday", "content_base64": BASE64_STANDARD.encode(picture("baseline.jpg")) });
    for fields in [json!({ "body": "hello again" }), image] {
        place.decided(&fields).await;
    }
    assert_eq!(place.waits("unnoticed").await, before);
}

#[sqlx::test(migrations = false)]
async fn a_wait_that_is_over_is_answered_with_pending(pool: PgPool) {
    let site = new_site(&pool);
    let api = Api::start(&pool).await;
    let place = place_of(&api, &site.key);
    // Nobody works.
    let answer = place
        .submit(Some("wait=1"), json!({ "body": "hello" }))
        .await;
    assert_eq!(applied(&answer), Some("wait=1"));
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["status"], "pending");
    assert_eq!(answer.get("action"), None);
    assert_eq!(place.waits("over").await, 1);
    let id = answer["id"].as_str().unwrap();
    assert_eq!(place.status(id).await["status"], "pending");

    // A worker finishes what is left.
    let worker = Worker::launch(gatehouse(&pool)).await;
    eventually("the item is decided", SOON, async || {
        let status = place.status(id).await;
        (status["status"] != "pending").then_some(())
    })
    .await;
    drop(worker);
}

#[sqlx::test(migrations = false)]
async fn a_request_that_was_cut_off_is_repeated_and_gets_the_verdict(pool: PgPool) {
    let site = new_site(&pool);
    let first = Api::start(&pool).await;
    let waiting = async |api: &Api| {
        let fields = json!({ "api_key": site.key, "body": "hello" });
        let request = api
            .http
            .post(format!("{}/submit-media", api.base_url))
            .header("prefer", WAIT)
            .header("idempotency-key", "once")
            .json(&fields);
        request.send().await
    };
    let killing = async {
        eventually("the item is stored", SOON, async || {
            let stored = "select exists (select from media)";
            let stored: bool = sqlx::query_scalar(stored).fetch_one(&pool).await.unwrap();
            stored.then_some(())
        })
        .await;
        first.kill();
    };
    let (cut, ()) = tokio::join!(waiting(&first), killing);
    cut.unwrap_err();

    let second = Api::start(&pool).await;
    let _worker = Worker::launch(gatehouse(&pool)).await;
    eventually("the verdict", SOON, async || {
        let answer = waiting(&second).await.unwrap();
        assert_eq!(applied(&answer), Some(WAIT));
        let answer: Value = answer.json().await.unwrap();
        (answer["status"] != "pending").then_some(())
    })
    .await;
    // Neither of them is told of by a worker: the first did not wait.
    let before = place_of(&second, &site.key).waits("unnoticed").await;
    let repeated = |prefer: &'static str| {
        let fields = json!({ "api_key": site.key, "body": "hello again" });
        let url = format!("{}/submit-media", second.base_url);
        let request = second.http.post(url).header("prefer", prefer);
        request
            .header("idempotency-key", "twice")
            .json(&fields)
            .send()
    };
    repeated("wait=0").await.unwrap();
    eventually("the verdict", SOON, async || {
        let answer: Value = repeated(WAIT).await.unwrap().json().await.unwrap();
        (answer["status"] != "pending").then_some(())
    })
    .await;
    let after = place_of(&second, &site.key).waits("unnoticed").await;
    assert_eq!(after, before);

    let items: i64 = sqlx::query_scalar("select count(*) from media")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(items, 2);
}
