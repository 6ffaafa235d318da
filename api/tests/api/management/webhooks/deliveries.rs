//! Deliveries and their attempts.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{endpoint, owner};
use crate::{app::App, management::document::assert_answers};

const JOBS: &str = "select count(*) from queue.jobs where queue = 'webhooks' and state = 0";

/// The last delivery is exhausted after twelve attempts, of which one is logged.
const EXHAUST: &str = "
    delete from queue.jobs where queue = 'webhooks';
    update deliveries
    set state = 'exhausted', attempts = 12, next_attempt_at = null, ended_at = now()
    where id = (select id from deliveries order by id desc limit 1);
    insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body, url)
    select id, 11, now(), 3, 'status', 500, '\\xff00', 'https://example.com/old' from deliveries where attempts = 12;
    insert into delivery_attempts (delivery_id, number, started_at, duration_ms, outcome, error, url)
    select id, 12, now(), 15000, 'timeout', 'no complete answer in time', 'https://example.com/hook'
    from deliveries where attempts = 12";

fn ids(list: &Value) -> Vec<&str> {
    let data = list["data"].as_array().unwrap();
    data.iter()
        .map(|delivery| delivery["id"].as_str().unwrap())
        .collect()
}

#[sqlx::test(migrations = false)]
async fn deliveries_are_found_by_whatever_is_known_of_them(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (one, _) = endpoint(&owner, &endpoints).await;
    let (other, _) = endpoint(&owner, &endpoints).await;
    let media = [app.submitted("a").await, app.submitted("b").await];
    app.run(EXHAUST).await;
    let path = format!("/sites/{}/deliveries", app.tenant.site);
    let all = owner.get(&path).await.ok();
    assert_answers("GET", "/sites/{site_id}/deliveries", &all);
    let newest = all["data"][0].clone();
    assert_eq!(newest["state"], "exhausted");
    assert_eq!(newest["media_id"], media[1].as_str());
    let found = async |query: &str| {
        let found = owner.get(&format!("{path}?{query}")).await.ok();
        found["data"].as_array().unwrap().len()
    };
    let occurred_at = newest["occurred_at"].as_str().unwrap();
    for (query, count) in [
        (String::new(), 4),
        (format!("media_id={}", media[0]), 2),
        (format!("endpoint_id={}", one["id"].as_str().unwrap()), 2),
        (
            format!(
                "endpoint_id={}&media_id={}&state=pending",
                other["id"].as_str().unwrap(),
                media[0]
            ),
            1,
        ),
        ("state=pending".to_owned(), 3),
        ("state=exhausted".to_owned(), 1),
        ("state=discarded".to_owned(), 0),
        (format!("state=exhausted&media_id={}", media[0]), 0),
        ("event=media.created".to_owned(), 4),
        ("event=media.moderated".to_owned(), 0),
        (format!("since={occurred_at}"), 2),
        (format!("until={occurred_at}"), 2),
        (format!("since={occurred_at}&until={occurred_at}"), 0),
    ] {
        assert_eq!(found(&query).await, count, "{query}");
    }
    for wrong in ["state=lost", "event=x", "since=now", "media_id=x"] {
        let field = wrong.split('=').next().unwrap();
        let answer = owner.get(&format!("{path}?{wrong}")).await;
        answer.blames("invalid_request", &[field]);
    }

    // Part by part it is the same list.
    let mut seen = Vec::new();
    let mut next = format!("{path}?limit=3");
    loop {
        let part = owner.get(&next).await.ok();
        seen.extend(ids(&part).into_iter().map(str::to_owned));
        let Some(cursor) = part["next_cursor"].as_str() else {
            break;
        };
        next = format!("{path}?limit=3&cursor={cursor}");
    }
    assert_eq!(seen, ids(&all));
}

#[sqlx::test(migrations = false)]
async fn a_delivery_is_shown_with_what_was_sent_and_what_came_back(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let new = json!({
        "url": "https://example.com/hook",
        "headers": [{ "name": "X-Gateway", "value": "hunter2" }],
    });
    owner.post(&endpoints, new).await.created();
    let metadata = json!({ "z": 1.50, "a": "ü" });
    let media = app
        .submit(json!({ "body": "a", "metadata": metadata }))
        .await
        .ok();
    app.run(EXHAUST).await;
    let path = format!("/sites/{}/deliveries", app.tenant.site);
    let listed = owner.get(&path).await.ok()["data"][0].clone();
    let id = listed["id"].as_str().unwrap();
    let answer = owner.get(&format!("/deliveries/{id}")).await;
    let item = answer.ok();
    assert_answers("GET", "/deliveries/{delivery_id}", &item);
    for (name, value) in listed.as_object().unwrap() {
        assert_eq!(&item[name], value, "{name}");
    }
    let body: Value = serde_json::from_str(item["request"]["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["event"], "media.created");
    assert_eq!(body["data"]["media_id"], media["id"]);
    assert_eq!(body["data"]["metadata"], metadata);
    let headers = item["request"]["headers"].as_array().unwrap();
    let header = |name: &str| {
        let header = headers.iter().find(|header| header["name"] == name);
        header.map(|header| header["value"].clone())
    };
    assert_eq!(header("x-service-delivery-id"), Some(json!(id)));
    assert_eq!(header("webhook-id"), Some(item["event_id"].clone()));
    assert_eq!(header("x-gateway"), Some(Value::Null));
    assert_eq!(header("x-service-signature"), Some(Value::Null));
    assert!(!answer.body.contains("hunter2") && !answer.body.contains("whsec_"));

    let log = item["log"].as_array().unwrap();
    assert_eq!(log.len(), 2);
    assert_eq!(log[0]["number"], 12);
    assert_eq!(log[0]["error"], "no complete answer in time");
    assert_eq!(log[0]["status_code"], Value::Null);
    assert_eq!(log[1]["response_body"], "\u{fffd}\0");
    assert_eq!(log[1]["status_code"], 500);
    assert_eq!(log[1]["url"], "https://example.com/old");
}

#[sqlx::test(migrations = false)]
async fn a_delivery_that_ended_is_sent_again_with_a_schedule_of_its_own(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    let (_, endpoint) = endpoint(&owner, &endpoints).await;
    app.submitted("a").await;
    let path = format!("/sites/{}/deliveries", app.tenant.site);
    let delivery = owner.get(&path).await.ok()["data"][0].clone();
    let item = format!("/deliveries/{}", delivery["id"].as_str().unwrap());
    let resend = format!("{item}/resend");
    let answer = owner.send("POST", &resend, "").await;
    answer.problem(409, "delivery_pending");

    app.run(EXHAUST).await;
    let disable = json!({ "reason": "a" });
    owner
        .post(&format!("{endpoint}/disable"), disable)
        .await
        .ok();
    let answer = owner.send("POST", &resend, "").await;
    let problem = answer.problem(409, "endpoint_disabled");
    assert!(problem["detail"].as_str().unwrap().contains("enable it"));
    assert_eq!(app.count(JOBS).await, 0);
    owner
        .send("POST", &format!("{endpoint}/enable"), "")
        .await
        .ok();

    let answer = owner.send("POST", &resend, "").await;
    assert_eq!(answer.status, 202, "{answer:?}");
    let resent = answer.json();
    assert_answers("POST", "/deliveries/{delivery_id}/resend", &resent);
    assert_eq!(
        answer.header("location"),
        Some(format!("/management/v1{item}").as_str())
    );
    assert_eq!(resent["state"], "pending");
    assert_eq!(resent["attempts"], 12);
    assert!(resent["next_attempt_at"].is_string() && resent["ended_at"].is_null());
    assert_eq!(app.count(JOBS).await, 1);
    let anew = "select count(*) from deliveries where earlier_attempts = 12";
    assert_eq!(app.count(anew).await, 1);
    let again = owner.send("POST", &resend, "").await;
    again.problem(409, "delivery_pending");
    assert_eq!(app.count(JOBS).await, 1);
    let (action, details) = app.audited(&owner, 1).await.remove(0);
    assert_eq!(action, "delivery.resend");
    assert_eq!(
        details["changed"]["state"],
        json!({ "from": "exhausted", "to": "pending" })
    );

    app.run("update deliveries set state = 'delivered', attempts = 10000")
        .await;
    let answer = owner.send("POST", &resend, "").await;
    answer.problem(409, "limit_reached");
}
