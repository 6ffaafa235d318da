//! Recoveries of webhook endpoints: started, watched, stopped.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{event::EventKind, scope::Scope};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::endpoint;

use super::{Caller, document::assert_answers};
use crate::{app::App, client::Answer};

fn ago(minutes: i64) -> String {
    let time = Utc::now() - TimeDelta::minutes(minutes);
    time.to_rfc3339()
}

fn time(member: &Value) -> DateTime<Utc> {
    member.as_str().unwrap().parse().unwrap()
}

impl App {
    pub(super) async fn endpoint(&self) -> String {
        let mut conn = self.pool.acquire().await.unwrap();
        let url = "https://example.com/hook";
        let endpoint = endpoint::create(&mut conn, self.tenant.site, url, EventKind::ALL).await;
        endpoint.unwrap().to_string()
    }

    /// The path of the recoveries of a new endpoint.
    async fn recoveries(&self) -> String {
        self.leaves(store::jobs::RECOVERIES);
        format!("/webhook-endpoints/{}/recoveries", self.endpoint().await)
    }
}

impl Caller<'_> {
    async fn recover(&self, path: &str, since: String) -> Answer {
        self.post(path, json!({ "kind": "failed", "since": since }))
            .await
    }
}

fn accepted(answer: &Answer) -> Value {
    assert_eq!(answer.status, 202, "{answer:?}");
    answer.json()
}

#[sqlx::test(migrations = false)]
async fn a_recovery_is_started_seen_and_stopped_and_both_are_recorded(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let path = app.recoveries().await;
    let since = ago(60);
    let answer = member.recover(&path, since.clone()).await;
    let started = accepted(&answer);
    assert_answers(
        "POST",
        "/webhook-endpoints/{endpoint_id}/recoveries",
        &started,
    );
    let id = started["id"].as_str().unwrap();
    let own = format!("/webhook-recoveries/{id}");
    assert_eq!(
        answer.header("location"),
        Some(format!("/management/v1{own}").as_str())
    );
    assert_eq!(
        (&started["state"], &started["kind"], &started["event"]),
        (&json!("running"), &json!("failed"), &Value::Null)
    );
    let asked: DateTime<Utc> = since.parse().unwrap();
    assert_eq!(
        time(&started["since"]).timestamp_micros(),
        asked.timestamp_micros()
    );
    assert_eq!(started["until"], started["created_at"]);
    let jobs = "select count(*) from queue.jobs where queue = 'recoveries'";
    assert_eq!(app.count(jobs).await, 1);
    let seen = member.get(&own).await.ok();
    assert_answers("GET", "/webhook-recoveries/{recovery_id}", &seen);
    assert_eq!(seen, started);

    let second = member.recover(&path, ago(60)).await;
    second.problem(409, "recovery_running");
    let cancelled = member.post(&format!("{own}/cancel"), json!({})).await.ok();
    assert_answers(
        "POST",
        "/webhook-recoveries/{recovery_id}/cancel",
        &cancelled,
    );
    assert_eq!(cancelled["state"], "cancelled");
    assert!(cancelled["ended_at"].is_string());
    let again = member.post(&format!("{own}/cancel"), json!({})).await.ok();
    assert_eq!(again, cancelled);

    let third = accepted(&member.recover(&path, ago(60)).await);
    let list = member.get(&path).await.ok();
    assert_answers("GET", "/webhook-endpoints/{endpoint_id}/recoveries", &list);
    assert_eq!(list["data"], json!([third, cancelled]));
    let part = member.get(&format!("{path}?limit=1")).await.ok();
    let cursor = part["next_cursor"].as_str().unwrap();
    let rest = member.get(&format!("{path}?cursor={cursor}")).await.ok();
    assert_eq!(rest["data"], json!([cancelled]));

    let endpoint = started["endpoint_id"].as_str().unwrap();
    let log = member
        .get(&format!("/audit-log?target_id={endpoint}"))
        .await
        .ok();
    let log = log["data"].as_array().unwrap();
    let actions: Vec<&Value> = log.iter().map(|entry| &entry["action"]).collect();
    assert_eq!(
        actions,
        ["recovery.create", "recovery.cancel", "recovery.create"]
    );
    assert_eq!(log[2]["details"]["created"], started);
    assert_eq!(log[1]["details"]["cancelled"], cancelled);
}

#[sqlx::test(migrations = false)]
async fn a_recovery_is_of_what_is_kept_and_has_happened(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let path = app.recoveries().await;
    let site = format!("/sites/{}", app.tenant.site);
    let days = json!({ "webhook_retention_days": 2 });
    member.patch(&site, days).await.ok();
    let two_days = 2 * 24 * 60;
    for (wrong, field) in [
        (json!({ "kind": "failed" }), "since"),
        (json!({ "kind": "all", "since": ago(1) }), "kind"),
        (
            json!({ "kind": "failed", "since": ago(1), "event": "media" }),
            "event",
        ),
        (
            json!({ "kind": "failed", "since": ago(1), "event": null }),
            "event",
        ),
        (
            json!({ "kind": "failed", "since": ago(two_days + 1) }),
            "since",
        ),
        (json!({ "kind": "failed", "since": ago(-1) }), "since"),
        (
            json!({ "kind": "failed", "since": ago(1), "until": ago(2) }),
            "until",
        ),
        (
            json!({ "kind": "failed", "since": ago(1), "state": "running" }),
            "state",
        ),
    ] {
        let answer = member.post(&path, wrong).await;
        answer.blames("invalid_request", &[field]);
    }
    // What comes after now is not waited for.
    let whole = json!({
        "kind": "missing", "event": "media.moderated", "since": ago(two_days - 1), "until": ago(-60),
    });
    let started = accepted(&member.post(&path, whole).await);
    assert_eq!(started["until"], started["created_at"]);
    assert_eq!(started["event"], "media.moderated");
}

#[sqlx::test(migrations = false)]
async fn nothing_is_recovered_for_an_endpoint_that_is_disabled_or_not_there(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let path = app.recoveries().await;
    sqlx::query("update webhook_endpoints set disabled_at = now()")
        .execute(&app.pool)
        .await
        .unwrap();
    let refused = member.recover(&path, ago(60)).await;
    refused.problem(409, "endpoint_disabled");
    assert_eq!(member.get(&path).await.ok()["data"], json!([]));
    let nowhere = "/webhook-endpoints/01980f6d-25aa-7bbb-8ccc-0123456789ab/recoveries";
    member.get(nowhere).await.problem(404, "not_found");
    let reader = app.caller(None, &[Scope::WebhooksRead]).await;
    reader.get(&path).await.ok();
    let refused = reader.recover(&path, ago(60)).await;
    refused.problem(403, "missing_scope");
}
