//! Webhook endpoints.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{endpoint, owner};
use crate::{app::App, management::document::assert_answers};

const SECRET: &str = "Bearer hunter2";

/// Ten failures in a row: the endpoint's breaker is open and its lane is paused.
const FAILING: &str = "
    insert into webhook_endpoint_states (endpoint_id, failing_since, failures, openings, open_until)
    select id, now() - interval '1 hour', 10, 1, now() + interval '5 minutes' from webhook_endpoints;
    insert into queue.lanes (queue, lane, paused_until)
    select 'webhooks', endpoint_id, open_until from webhook_endpoint_states";
const PAUSED: &str = "select count(*) from queue.lanes where paused_until > now()";
const STATES: &str = "select count(*) from webhook_endpoint_states";

#[sqlx::test(migrations = false)]
async fn an_endpoint_is_created_with_everything_that_its_owner_decides(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (plain, path) = endpoint(&owner, &endpoints).await;
    assert_answers("POST", "/sites/{site_id}/webhook-endpoints", &plain);
    assert_eq!(plain["events"], json!(["media.created", "media.moderated"]));
    assert_eq!(plain["breaker"], "closed");
    for unset in [
        "description",
        "max_per_second",
        "disabled_at",
        "disabled_reason",
        "failing_since",
    ] {
        assert_eq!(plain[unset], Value::Null, "{unset}");
    }
    assert_eq!(owner.get(&path).await.ok(), plain);

    let new = json!({
        "url": "https://example.com/hook?tenant=7#part",
        "events": ["media.moderated", "media.moderated"],
        "description": "Shop",
        "max_per_second": 5,
        "headers": [{ "name": "Authorization", "value": SECRET }, { "name": "X-Tenant", "value": "7" }],
    });
    let full = owner.post(&endpoints, new).await.created();
    assert_eq!(full["url"], "https://example.com/hook?tenant=7");
    assert_eq!(full["events"], json!(["media.moderated"]));
    assert_eq!(full["description"], "Shop");
    assert_eq!(full["max_per_second"], 5);
    assert_eq!(full["header_names"], json!(["authorization", "x-tenant"]));
    let list = owner.get(&endpoints).await.ok();
    assert_eq!(list["data"], json!([plain, full]));
    assert_answers("GET", "/sites/{site_id}/webhook-endpoints", &list);
}

#[sqlx::test(migrations = false)]
async fn what_an_endpoint_cannot_be_is_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let header = |name: &str, value: &str| json!({ "name": name, "value": value });
    let url = "https://example.com/";
    let long = format!("https://example.com/{}", "ü".repeat(400));
    let cases = [
        (json!({}), "url"),
        (json!({ "url": 7 }), "url"),
        (json!({ "url": "example.com" }), "url"),
        (json!({ "url": long }), "url"),
        (json!({ "url": "http://127.0.0.1/" }), "url"),
        (json!({ "url": url, "events": [] }), "events"),
        (
            json!({ "url": url, "events": ["media.deleted"] }),
            "events[0]",
        ),
        (json!({ "url": url, "description": "" }), "description"),
        (json!({ "url": url, "max_per_second": 0 }), "max_per_second"),
        (
            json!({ "url": url, "max_per_second": 10_001 }),
            "max_per_second",
        ),
        (
            json!({ "url": url, "headers": [header("a b", "x")] }),
            "headers[0].name",
        ),
        (
            json!({ "url": url, "headers": [header("a", "x"), header("HOST", "x")] }),
            "headers[1].name",
        ),
        (
            json!({ "url": url, "headers": [header("X-Service-Signature", "x")] }),
            "headers[0].name",
        ),
        (
            json!({ "url": url, "headers": [header("a", "x\r\nb: y")] }),
            "headers[0].value",
        ),
        (
            json!({ "url": url, "headers": [header("a", "x"), header("A", "y")] }),
            "headers[1].name",
        ),
        (
            json!({ "url": url, "headers": vec![header("a", "x"); 21] }),
            "headers",
        ),
        (json!({ "url": url, "secret": "mine" }), "secret"),
    ];
    let (_, path) = endpoint(&owner, &endpoints).await;
    for (body, field) in cases {
        let answer = owner.post(&endpoints, body.clone()).await;
        answer.blames("invalid_request", &[field]);
        if body != json!({}) {
            let answer = owner.patch(&path, body).await;
            answer.blames("invalid_request", &[field]);
        }
    }
    let told = owner.post(&endpoints, json!({ "url": "http://127.0.0.1/" }));
    assert!(told.await.body.contains("use another"));
    let kept = "select count(*) from webhook_endpoints";
    assert_eq!(app.count(kept).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_site_has_ten_endpoints_at_most_even_when_they_come_at_once(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events, disabled_at, deleted_at)
         select gen_random_uuid(), $1, 'https://example.com/', '{}', case when n > 8 then now() end,
                case when n > 8 then now() end
         from generate_series(1, 15) n",
    )
    .bind(app.tenant.site.as_uuid())
    .execute(&app.pool)
    .await
    .unwrap();
    let add = || async {
        let new = json!({ "url": "https://example.com/" });
        owner.post(&endpoints, new).await
    };
    let answers = tokio::join!(add(), add(), add(), add());
    let answers = [answers.0, answers.1, answers.2, answers.3];
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 409, 409]);
    let refused = answers.iter().find(|answer| answer.status == 409).unwrap();
    let problem = refused.problem(409, "limit_reached");
    assert!(problem["detail"].as_str().unwrap().contains("allows 10 "));
}

#[sqlx::test(migrations = false)]
async fn a_change_is_one_of_the_members_that_it_has(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let new = json!({
        "url": "https://example.com/a",
        "description": "Shop",
        "max_per_second": 5,
        "headers": [{ "name": "a", "value": SECRET }],
    });
    let before = owner.post(&endpoints, new).await.created();
    let path = format!("/webhook-endpoints/{}", before["id"].as_str().unwrap());
    let changed = owner
        .patch(
            &path,
            json!({ "events": ["media.created"], "description": null }),
        )
        .await
        .ok();
    let mut expected = before.clone();
    expected["events"] = json!(["media.created"]);
    expected["description"] = Value::Null;
    assert_eq!(changed, expected);
    assert_answers("PATCH", "/webhook-endpoints/{endpoint_id}", &changed);

    let log = app.count("select count(*) from audit_log").await;
    assert_eq!(owner.patch(&path, json!({})).await.ok(), expected);
    let same = json!({ "url": "https://example.com/a", "max_per_second": 5 });
    assert_eq!(owner.patch(&path, same).await.ok(), expected);
    assert_eq!(app.count("select count(*) from audit_log").await, log);

    let cleared = json!({ "headers": [], "max_per_second": null });
    let cleared = owner.patch(&path, cleared).await.ok();
    assert_eq!(cleared["header_names"], json!([]));
    assert_eq!(cleared["max_per_second"], Value::Null);
    let sealed = "select count(*) from webhook_endpoints where headers is not null";
    assert_eq!(app.count(sealed).await, 0);
}

#[sqlx::test(migrations = false)]
async fn neither_the_audit_log_nor_the_tables_tell_what_may_be_a_secret(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let new = json!({
        "url": "https://example.com/hook/token-1?key=token-2",
        "headers": [{ "name": "a", "value": SECRET }],
    });
    let id = owner.post(&endpoints, new).await.created()["id"].clone();
    let path = format!("/webhook-endpoints/{}", id.as_str().unwrap());
    let moved = json!({ "url": "https://example.com/hook/token-3" });
    owner.patch(&path, moved).await.ok();
    let other = json!({ "headers": [{ "name": "a", "value": "hunter3" }] });
    owner.patch(&path, other).await.ok();
    let stored = app.stored().await;
    owner.delete(&path).await.done();

    let told = app.audited(&owner, 4).await;
    let settings = json!({
        "origin": "https://example.com",
        "events": ["media.created", "media.moderated"],
        "description": null,
        "max_per_second": null,
        "header_names": ["a"],
        "site_id": app.tenant.site,
    });
    let same = |member: &str, value: Value| json!({ "changed": { member: { "from": value, "to": value } } });
    assert_eq!(
        told,
        [
            ("endpoint.delete".to_owned(), json!({ "deleted": settings })),
            (
                "endpoint.update".to_owned(),
                same("header_names", json!(["a"]))
            ),
            (
                "endpoint.update".to_owned(),
                same("origin", json!("https://example.com"))
            ),
            ("endpoint.create".to_owned(), json!({ "created": settings })),
        ]
    );
    let log = serde_json::to_string(&told).unwrap();
    for secret in ["token-", "hunter"] {
        assert!(!log.contains(secret), "{log}");
        assert!(!stored.contains(secret), "{stored}");
    }
    let kept = "select count(*) from webhook_endpoints where headers is not null";
    assert_eq!(app.count(kept).await, 0);
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_that_is_disabled_says_why_until_it_is_enabled(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (before, path) = endpoint(&owner, &endpoints).await;
    let (disable, enable) = (format!("{path}/disable"), format!("{path}/enable"));
    for reason in [
        json!({}),
        json!({ "reason": "" }),
        json!({ "reason": null }),
    ] {
        let answer = owner.post(&disable, reason).await;
        answer.blames("invalid_request", &["reason"]);
    }
    let disabled = owner
        .post(&disable, json!({ "reason": "Being rebuilt." }))
        .await
        .ok();
    assert_eq!(disabled["disabled_reason"], "Being rebuilt.");
    assert!(disabled["disabled_at"].is_string());
    assert_answers(
        "POST",
        "/webhook-endpoints/{endpoint_id}/disable",
        &disabled,
    );
    // The first reason stays.
    let again = owner.post(&disable, json!({ "reason": "Other." })).await;
    assert_eq!(again.ok(), disabled);
    app.submitted("a text").await;
    assert_eq!(app.count("select count(*) from deliveries").await, 0);

    assert_eq!(owner.post(&enable, json!({})).await.ok(), before);
    assert_eq!(owner.send("POST", &enable, "").await.ok(), before);
    app.submitted("a text").await;
    assert_eq!(app.count("select count(*) from deliveries").await, 1);
    let told = app.audited(&owner, 2).await;
    assert_eq!(
        told,
        [
            (
                "endpoint.enable".to_owned(),
                json!({ "changed": { "disabled_reason": { "from": "Being rebuilt.", "to": null } } })
            ),
            (
                "endpoint.disable".to_owned(),
                json!({ "reason": "Being rebuilt." })
            ),
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn how_an_endpoint_fares_is_shown(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, path) = endpoint(&owner, &endpoints).await;
    app.submitted("a text").await;
    app.run(FAILING).await;
    let shown = async |breaker: &str, is_until: bool| {
        let shown = owner.get(&path).await.ok();
        assert_eq!(shown["breaker"], breaker, "{shown}");
        assert_eq!(shown["breaker_until"].is_string(), is_until, "{shown}");
        shown
    };
    let open = shown("open", true).await;
    assert!(open["failing_since"].is_string());
    assert_eq!(open["waiting_deliveries"], 1);
    app.run("update webhook_endpoint_states set open_until = now()")
        .await;
    shown("half_open", false).await;
    app.run("update webhook_endpoint_states set probe_until = now() + interval '1 minute'")
        .await;
    shown("half_open", true).await;
    app.run("update deliveries set state = 'delivered'").await;
    assert_eq!(shown("half_open", true).await["waiting_deliveries"], 0);
}

#[sqlx::test(migrations = false)]
async fn one_that_moves_or_is_enabled_is_as_new_and_one_that_is_changed_otherwise_is_not(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, path) = endpoint(&owner, &endpoints).await;

    app.run(FAILING).await;
    owner
        .patch(&path, json!({ "max_per_second": 7 }))
        .await
        .ok();
    owner
        .patch(&path, json!({ "url": "https://example.com/hook" }))
        .await
        .ok();
    assert_eq!((app.count(STATES).await, app.count(PAUSED).await), (1, 1));
    let moved = json!({ "url": "https://example.com/elsewhere" });
    let moved = owner.patch(&path, moved).await.ok();
    assert_eq!(moved["breaker"], "closed");
    assert_eq!((app.count(STATES).await, app.count(PAUSED).await), (0, 0));

    app.run("delete from queue.lanes").await;
    app.run(FAILING).await;
    app.run("update webhook_endpoints set disabled_at = now(), disabled_reason = 'dead'")
        .await;
    owner.post(&format!("{path}/enable"), json!({})).await.ok();
    assert_eq!((app.count(STATES).await, app.count(PAUSED).await), (0, 0));

    // What somebody else wants to wait longer waits on.
    app.run("delete from queue.lanes").await;
    app.run(FAILING).await;
    app.run("update queue.lanes set paused_until = 'infinity'")
        .await;
    let moved = json!({ "url": "https://example.com/again" });
    owner.patch(&path, moved).await.ok();
    assert_eq!((app.count(STATES).await, app.count(PAUSED).await), (0, 1));
}

#[sqlx::test(migrations = false)]
async fn a_deleted_endpoint_is_gone_and_what_went_to_it_stays(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, path) = endpoint(&owner, &endpoints).await;
    let (other, other_path) = endpoint(&owner, &endpoints).await;
    app.submitted("a text").await;
    app.run(FAILING).await;
    owner.delete(&path).await.done();

    let states = "select count(*) from deliveries where state = 'pending'";
    assert_eq!(app.count(states).await, 1, "the other endpoint's");
    assert_eq!(app.count(PAUSED).await, 1, "the other endpoint's");
    for (method, path) in [
        ("GET", path.clone()),
        ("PATCH", path.clone()),
        ("DELETE", path.clone()),
        ("POST", format!("{path}/enable")),
        ("POST", format!("{path}/ping")),
    ] {
        let answer = owner.send(method, &path, "{}").await;
        answer.problem(404, "not_found");
    }
    let list = owner.get(&endpoints).await.ok();
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert_eq!(list["data"][0]["id"], other["id"]);
    app.submitted("a text").await;
    assert_eq!(app.count("select count(*) from deliveries").await, 3);

    let deliveries = format!("/sites/{}/deliveries", app.tenant.site);
    let discarded = owner.get(&format!("{deliveries}?state=discarded")).await;
    let discarded = discarded.ok()["data"][0].clone();
    assert!(discarded["ended_at"].is_string(), "{discarded}");
    let item = format!("/deliveries/{}", discarded["id"].as_str().unwrap());
    assert_eq!(owner.get(&item).await.ok()["state"], "discarded");
    let resend = owner.send("POST", &format!("{item}/resend"), "").await;
    resend.problem(409, "endpoint_disabled");
    owner.get(&other_path).await.ok();
}
