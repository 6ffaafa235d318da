//! Items of clients of other services that their site does not keep.

use std::fs;

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::{
    erasures::command,
    support::{DataDir, Receiver, SOON, Up, eventually, gatehouse, http},
};

/// Texts with the status that each gets. All have a word that is looked for later.
const TEXTS: [(&str, &str); 3] = [
    ("so much blockedword about xylophagous things", "rejected"),
    ("a fine day for xylophagous things", "approved"),
    ("see review-2024 for xylophagous things", "pending_review"),
];

async fn number(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

/// Posts to an endpoint for clients of another service.
async fn ask(up: &Up, path: &str, body: Value) -> Value {
    let request = http()
        .post(format!("{}/compat/{path}", up.origin()))
        .bearer_auth(&up.demo().site_key)
        .header("x-goog-api-key", &up.demo().site_key)
        .json(&body);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200, "{:?}", answer.text().await);
    answer.json().await.unwrap()
}

async fn moderate(up: &Up) -> Vec<Value> {
    let texts = TEXTS.map(|(text, _)| text);
    let answer = ask(up, "openai/v1/moderations", json!({ "input": texts })).await;
    let results = answer["results"].as_array().unwrap();
    for (result, (_, status)) in results.iter().zip(TEXTS) {
        assert_eq!(result["gatehouse"]["status"], status, "{result}");
    }
    results.clone()
}

#[sqlx::test(migrations = false)]
async fn items_that_are_not_kept_are_judged_told_to_nobody_and_removed(pool: PgPool) {
    let receiver = Receiver::start().await;
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    let arguments = [
        "--database-url",
        &database,
        "--webhook-url",
        &receiver.url(),
    ];
    let up = Up::start(&data, &arguments).await;
    let site = format!("/sites/{}", up.demo().site_id);
    let (code, changed) = up.patch(&site, &json!({ "compat_store": false })).await;
    assert_eq!((code, &changed["compat_store"]), (200, &json!(false)));
    let used = "select coalesce(sum(submissions), 0)::bigint from usage";
    let before = number(&pool, used).await;

    let results = moderate(&up).await;
    assert_eq!(results[0]["flagged"], true);
    assert_eq!(results[1]["flagged"], false);
    assert_eq!(number(&pool, used).await, before + 3);
    for table in ["events", "deliveries", "reviews"] {
        let statement = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
        let rows: i64 = sqlx::query_scalar(statement)
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    eventually("the items are removed", SOON, async || {
        (number(&pool, "select count(*) from media").await == 0).then_some(())
    })
    .await;
    assert_eq!(number(&pool, "select count(*) from verdicts").await, 0);
    let texts = data.path().join("texts");
    fs::write(&texts, "xylophagous\n").unwrap();
    let verify = ["erasure", "verify", "--texts", texts.to_str().unwrap()];
    let (clean, printed) = command(gatehouse(&pool), &verify);
    assert!(clean, "{printed}");
    assert!(receiver.received().is_empty(), "somebody was told");

    // What others submit is kept and told, and so is what these clients send once the site wants it.
    let media = up.submit(json!({ "body": TEXTS[0].0 })).await;
    up.verdict(&media).await;
    let (code, _) = up.patch(&site, &json!({ "compat_store": true })).await;
    assert_eq!(code, 200);
    moderate(&up).await;
    eventually("all is told", SOON, async || {
        (receiver.received().len() >= 8).then_some(())
    })
    .await;
    assert_eq!(number(&pool, "select count(*) from media").await, 4);

    // A client can say so itself, and a hold keeps what nobody else would.
    let hold = json!({ "site_id": up.demo().site_id, "reason": "a case" });
    let (code, held) = up.manage("/legal-holds", &hold).await;
    assert_eq!(code, 201, "{held}");
    let comment = json!({
        "comment": { "text": TEXTS[0].0 },
        "requestedAttributes": { "TOXICITY": {} },
        "doNotStore": true,
    });
    ask(&up, "perspective/v1alpha1/comments:analyze", comment).await;
    let waits = "select count(*) from queue.jobs where queue = 'removals' and run_at > now() + interval '1 minute'";
    eventually("the removal waits for the hold to end", SOON, async || {
        (number(&pool, waits).await == 1).then_some(())
    })
    .await;
    assert_eq!(number(&pool, "select count(*) from media").await, 5);
    // The removal.
    up.leaves_jobs();
}
