//! Sites and a team of a running service are closed: disabled at once, exported, and erased after the grace.

use std::fs;

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::{
    erasures::{all_of, command, fill},
    support::{DataDir, SOON, Up, eventually, gatehouse, run_beside},
};

/// A site of the demo team with a key.
struct Site {
    id: String,
    key: String,
}

impl Site {
    async fn create(up: &Up, name: &str) -> Self {
        let demo = demo_site(up).await;
        let group = &demo["default_rule_group_id"];
        let site = json!({ "name": name, "default_rule_group_id": group });
        let (code, site) = up.manage("/sites", &site).await;
        assert_eq!(code, 201, "{site}");
        let id = site["id"].as_str().unwrap().to_owned();
        let (code, key) = up.manage(&format!("/sites/{id}/keys"), &json!({})).await;
        assert_eq!(code, 201, "{key}");
        let key = key["secret"].as_str().unwrap().to_owned();
        Self { id, key }
    }

    /// The status of a submission, and its code if it is refused.
    async fn submit(&self, up: &Up, body: &str) -> (u16, Value) {
        let (status, answer) = up.submit_with(&self.key, json!({ "body": body })).await;
        (status, answer["code"].clone())
    }
}

async fn demo_site(up: &Up) -> Value {
    let (code, site) = up.look(&format!("/sites/{}", up.demo().site_id)).await;
    assert_eq!(code, 200, "{site}");
    site
}

async fn close(up: &Up, wanted: &Value) -> Value {
    let (code, closure) = up.manage("/closures", wanted).await;
    assert_eq!(code, 202, "{closure}");
    closure
}

async fn closure(up: &Up, closure: &Value) -> Value {
    let path = format!("/closures/{}", closure["id"].as_str().unwrap());
    let (code, closure) = up.look(&path).await;
    assert_eq!(code, 200, "{closure}");
    closure
}

async fn closed(up: &Up, begun: &Value) -> Value {
    eventually("the closure has ended", SOON, async || {
        let now = closure(up, begun).await;
        assert_ne!(now["state"], "failed", "{now}");
        (now["state"] == "closed").then_some(now)
    })
    .await
}

/// Ends the grace, as if the days had passed.
async fn pass_the_grace(pool: &PgPool) {
    for statement in [
        "update closures set erase_at = now() where state = 'running'",
        "update queue.jobs set state = 0, run_at = now() where queue = 'closures'",
    ] {
        run_beside(pool, statement).await;
    }
}

#[sqlx::test(migrations = false)]
async fn case_90_a_site_is_closed_although_the_service_is_killed_and_the_others_are_untouched(
    pool: PgPool,
) {
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    let options = ["--database-url", &database, "--lease-seconds", "2"];
    let up = Up::start(&data, &options).await;
    let demo = up.demo().site_id.clone();
    fill(&pool, &demo, "bert-0815", 100).await;
    let others = all_of(&pool, "bert-0815").await;
    let site = Site::create(&up, "Fan club").await;
    let (status, answer) = site.submit(&up, "hello, says anna-4711").await;
    assert_eq!(status, 200, "{answer}");
    eventually("a verdict", SOON, async || {
        let pending = "select count(*) from media where status = 'pending'";
        let pending: i64 = sqlx::query_scalar(pending).fetch_one(&pool).await.unwrap();
        (pending == 0).then_some(())
    })
    .await;
    fill(&pool, &site.id, "anna-4711", 3_000).await;

    let begun = close(&up, &json!({ "site_id": site.id, "name": "Fan club" })).await;
    assert_eq!(begun["state"], "grace", "{begun}");
    let refused = (403, json!("site_closed"));
    assert_eq!(site.submit(&up, "more").await, refused);
    up.verdict(&up.submit(json!({ "body": "hello" })).await)
        .await;
    let export = begun["sites"][0]["export_id"].as_str().unwrap();
    let (_, archive) = up.download(&format!("/exports/{export}/archive")).await;
    let has = |text: &str| archive.windows(text.len()).any(|at| at == text.as_bytes());
    assert!(has("hello, says anna-4711") && has("end.json"));
    assert!(!has("bert-0815"));
    assert_eq!(closure(&up, &begun).await["state"], "grace");

    pass_the_grace(&pool).await;
    eventually("some items are erased", SOON, async || {
        let erased = "select count(*) from media where erased_at is not null";
        let erased: i64 = sqlx::query_scalar(erased).fetch_one(&pool).await.unwrap();
        (erased > 0).then_some(())
    })
    .await;
    up.kill();
    let up = Up::start(&data, &options).await;
    let ended = closed(&up, &begun).await;

    // Nothing is left of it, and everything of the other.
    assert_eq!(
        site.submit(&up, "more").await,
        (401, json!("invalid_api_key"))
    );
    let (_, shown) = up.look(&format!("/sites/{}", site.id)).await;
    assert_eq!(shown["name"], format!("closed {}", site.id), "{shown}");
    let texts = data.path().join("texts");
    fs::write(&texts, "anna-4711").unwrap();
    let verify = ["erasure", "verify", "--texts", texts.to_str().unwrap()];
    let (clean, printed) = command(gatehouse(&pool), &verify);
    assert!(clean, "{printed}");
    assert_eq!(all_of(&pool, "bert-0815").await, others);
    up.verdict(&up.submit(json!({ "body": "hello" })).await)
        .await;

    let erasure = ended["sites"][0]["erasure_id"].as_str().unwrap();
    let (_, erasure) = up.look(&format!("/erasures/{erasure}")).await;
    assert_eq!(erasure["counts"]["items"], 3_001, "{erasure}");
    let (jws, subject) = (data.path().join("jws"), data.path().join("subject"));
    fs::write(&jws, erasure["certificate"].as_str().unwrap()).unwrap();
    fs::write(&subject, r#"{"everything":{}}"#).unwrap();
    let mut check = vec!["erasure", "check-certificate", jws.to_str().unwrap()];
    check.extend(["--subject", subject.to_str().unwrap()]);
    let (valid, printed) = command(gatehouse(&pool), &check);
    assert!(
        valid && printed.contains("the signature is valid"),
        "{printed}"
    );
}

#[sqlx::test(migrations = false)]
async fn without_a_grace_a_site_and_then_its_team_are_closed_at_once(pool: PgPool) {
    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    let up = Up::start(&data, &["--database-url", &database]).await;
    let site = Site::create(&up, "Fan club").await;
    assert_eq!(site.submit(&up, "hello").await.0, 200);
    let wanted = json!({ "site_id": site.id, "name": "Fan club", "grace_days": 0 });
    let begun = close(&up, &wanted).await;
    closed(&up, &begun).await;
    // The name is free again.
    Site::create(&up, "Fan club").await;
    up.verdict(&up.submit(json!({ "body": "hello" })).await)
        .await;

    let team = demo_site(&up).await["team_id"].clone();
    let wanted = json!({ "team_id": team, "name": "Demo", "grace_days": 0 });
    let begun = close(&up, &wanted).await;
    assert_eq!(begun["sites"].as_array().unwrap().len(), 2, "{begun}");
    eventually("the team is closed", SOON, async || {
        let state = "select state from closures where site_id is null";
        let state: String = sqlx::query_scalar(state).fetch_one(&pool).await.unwrap();
        assert_ne!(state, "failed");
        (state == "finished").then_some(())
    })
    .await;
    let (code, refused) = up.look("/closures").await;
    assert_eq!((code, &refused["code"]), (401, &json!("invalid_token")));
    let left = "select count(*) from media where body is not null";
    let left: i64 = sqlx::query_scalar(left).fetch_one(&pool).await.unwrap();
    assert_eq!(left, 0);
}
