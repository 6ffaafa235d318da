//! Events, and which endpoints were to be told of them.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{endpoint, owner};
use crate::{
    app::{App, SUBMIT, Tenant},
    management::document::assert_answers,
};

fn ids(list: &Value) -> Vec<String> {
    let data = list["data"].as_array().unwrap();
    data.iter()
        .map(|event| event["id"].as_str().unwrap().to_owned())
        .collect()
}

#[sqlx::test(migrations = false)]
async fn events_are_found_by_what_is_known_of_them_and_say_who_was_told(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, endpoints) = owner(&app).await;
    // Nobody was there to be told of the first one.
    let mut media = vec![app.submitted("a").await];
    let (endpoint, _) = endpoint(&owner, &endpoints).await;
    media.push(app.submitted("b").await);
    media.push(app.submitted("c").await);
    app.run("update deliveries set state = 'exhausted', attempts = 12")
        .await;
    let path = format!("/sites/{}/webhook-events", app.tenant.site);
    let all = owner.get(&path).await.ok();
    assert_answers("GET", "/sites/{site_id}/webhook-events", &all);
    assert_eq!(all["next_cursor"], Value::Null);
    let listed: Vec<&Value> = all["data"].as_array().unwrap().iter().collect();
    let about: Vec<&Value> = listed.iter().map(|event| &event["media_id"]).collect();
    media.reverse();
    assert_eq!(about, media.iter().collect::<Vec<_>>(), "newest first");
    assert_eq!(listed[2]["deliveries"], json!([]));
    assert_eq!(listed[2]["kind"], "media.created");

    let deliveries = format!("/sites/{}/deliveries", app.tenant.site);
    let delivery = owner.get(&deliveries).await.ok()["data"][0].clone();
    let told = json!([{
        "delivery_id": delivery["id"],
        "endpoint_id": endpoint["id"],
        "state": "exhausted",
        "attempts": 12,
    }]);
    assert_eq!(listed[0]["deliveries"], told);
    assert_eq!(listed[0]["id"], delivery["event_id"]);
    assert_eq!(listed[0]["occurred_at"], delivery["occurred_at"]);

    let all = ids(&all);
    let at = listed[1]["occurred_at"].as_str().unwrap();
    for (query, found) in [
        (String::new(), &all[..]),
        (format!("media_id={}", media[1]), &all[1..2]),
        (format!("media_id={}", app.tenant.site), &[]),
        ("kind=media.created".to_owned(), &all[..]),
        ("kind=media.moderated".to_owned(), &[]),
        (format!("kind=media.moderated&media_id={}", media[1]), &[]),
        (format!("since={at}"), &all[..2]),
        (format!("until={at}"), &all[2..]),
        (format!("since={at}&media_id={}", media[2]), &[]),
        (format!("since={at}&until={at}"), &[]),
    ] {
        let answer = owner.get(&format!("{path}?{query}")).await.ok();
        assert_eq!(ids(&answer), found, "{query}");
    }
    for wrong in ["kind=x", "since=now", "until=now", "media_id=x"] {
        let field = wrong.split('=').next().unwrap();
        let answer = owner.get(&format!("{path}?{wrong}")).await;
        answer.blames("invalid_request", &[field]);
    }

    // Part by part it is the same list.
    let first = owner.get(&format!("{path}?limit=2")).await.ok();
    assert_eq!(ids(&first), all[..2]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = format!("{path}?limit=2&cursor={cursor}");
    let rest = owner.get(&rest).await.ok();
    assert_eq!(ids(&rest), all[2..]);
    assert_eq!(rest["next_cursor"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn events_are_for_their_team_and_the_scope_that_sees_deliveries(pool: PgPool) {
    let app = App::start(pool).await;
    let theirs = Tenant::create(&app.pool, "theirs").await;
    let submission = json!({ "api_key": theirs.key, "body": "a text" });
    let media = app.post(SUBMIT, &submission).await.ok()["id"].clone();
    let path = format!("/sites/{}/webhook-events", app.tenant.site);
    let their_path = format!("/sites/{}/webhook-events", theirs.site);

    let member = app.member(app.tenant.team).await;
    member.get(&their_path).await.problem(404, "not_found");
    assert_eq!(member.get(&path).await.ok()["data"], json!([]));
    let about = format!("{path}?media_id={}", media.as_str().unwrap());
    assert_eq!(member.get(&about).await.ok()["data"], json!([]));

    let reader = app.caller(Some(theirs.team), &[Scope::WebhooksRead]).await;
    let seen = reader.get(&their_path).await.ok();
    assert_eq!(seen["data"][0]["media_id"], media);
    let scopes = Scope::ALL.iter().copied();
    let others: Vec<Scope> = scopes
        .filter(|scope| *scope != Scope::WebhooksRead)
        .collect();
    let blind = app.caller(Some(theirs.team), &others).await;
    blind.get(&their_path).await.problem(403, "missing_scope");
}
