//! The secret of a site, and its rotation.

use chrono::{DateTime, TimeDelta, Utc};
use domain::signature::WebhookSecret;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    encryption::{self, MasterKey},
    site,
};

use super::owner;
use crate::{app::App, client::Answer, management::document::assert_answers};

const KEY: [u8; 32] = [7; 32];

/// What signs now.
async fn signing(app: &App) -> (String, Option<String>) {
    let mut conn = app.pool.acquire().await.unwrap();
    let secrets =
        site::webhook_secret::signing(&mut conn, &MasterKey::new(KEY), app.tenant.site).await;
    let secrets = secrets.unwrap().unwrap();
    let previous = secrets.previous;
    (
        secrets.current.expose().to_owned(),
        previous.map(|previous| previous.expose().to_owned()),
    )
}

fn time(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}

fn secret(answer: &Answer) -> String {
    let secret = answer.ok()["secret"].as_str().unwrap().to_owned();
    assert!(secret.parse::<WebhookSecret>().is_ok());
    secret
}

#[sqlx::test(migrations = false)]
async fn a_new_secret_signs_at_once_and_the_one_before_it_for_a_day_beside_it(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, _) = owner(&app).await;
    let path = format!("/sites/{}/webhook-secret", app.tenant.site);
    let none = json!({ "signs_since": null, "previous_until": null, "next_at": null });
    assert_eq!(owner.get(&path).await.ok(), none);
    let (first, _) = signing(&app).await;

    let answer = owner.post(&format!("{path}/rotate"), json!({})).await;
    let second = secret(&answer);
    let told = answer.ok();
    assert_answers("POST", "/sites/{site_id}/webhook-secret/rotate", &told);
    assert_eq!(told["dropped"], Value::Null);
    let day = TimeDelta::days(1);
    assert_eq!(
        time(&told["previous_until"]),
        time(&told["activates_at"]) + day
    );
    assert_eq!(signing(&app).await, (second.clone(), Some(first.clone())));
    let standing = owner.get(&path).await.ok();
    assert_answers("GET", "/sites/{site_id}/webhook-secret", &standing);
    assert_eq!(standing["signs_since"], told["activates_at"]);
    assert_eq!(standing["previous_until"], told["previous_until"]);
    assert_eq!(standing["next_at"], Value::Null);

    // A third one leaves no room for the first.
    let answer = owner.post(&format!("{path}/rotate"), json!({})).await;
    let third = secret(&answer);
    assert_eq!(answer.ok()["dropped"], "previous");
    assert_eq!(signing(&app).await, (third.clone(), Some(second.clone())));
    let log = serde_json::to_string(&app.audited(&owner, 10).await).unwrap();
    assert!(log.contains("webhook_secret.rotate") && log.contains("\"dropped\":\"previous\""));
    let stored = app.stored().await;
    for secret in [first, second, third] {
        assert!(!log.contains(&secret) && !stored.contains(&secret));
    }
}

#[sqlx::test(migrations = false)]
async fn a_secret_that_is_to_sign_later_does_not_sign_yet_and_gives_way_to_the_next(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, _) = owner(&app).await;
    let path = format!("/sites/{}/webhook-secret", app.tenant.site);
    let rotate = format!("{path}/rotate");
    let (first, _) = signing(&app).await;
    let at = (Utc::now() + TimeDelta::days(29)).to_rfc3339();
    let later = owner.post(&rotate, json!({ "activate_at": at })).await;
    let never = secret(&later);
    assert_eq!(later.ok()["dropped"], Value::Null);
    assert_eq!(signing(&app).await, (first.clone(), None));
    let standing = owner.get(&path).await.ok();
    assert_eq!(standing["next_at"], later.ok()["activates_at"]);
    assert_eq!(standing["previous_until"], Value::Null);

    let past = json!({ "activate_at": "2020-01-01T00:00:00Z" });
    let now = owner.post(&rotate, past).await;
    assert_eq!(now.ok()["dropped"], "next");
    assert!(time(&now.ok()["activates_at"]) > Utc::now() - TimeDelta::hours(1));
    let new = secret(&now);
    assert_ne!(new, never);
    assert_eq!(signing(&app).await, (new, Some(first)));

    let at = (Utc::now() + TimeDelta::days(31)).to_rfc3339();
    let answer = owner.post(&rotate, json!({ "activate_at": at })).await;
    answer.blames("invalid_request", &["activate_at"]);
}

#[sqlx::test(migrations = false)]
async fn of_two_rotations_at_once_the_second_tells_what_it_drops_of_the_first(pool: PgPool) {
    let app = App::start(pool).await;
    let (owner, _) = owner(&app).await;
    let rotate = format!("/sites/{}/webhook-secret/rotate", app.tenant.site);
    // The first change of all would make the others wait for that of the master key.
    let mut conn = app.pool.acquire().await.unwrap();
    let key = MasterKey::new(KEY);
    encryption::check_master_key(&mut conn, &key).await.unwrap();
    drop(conn);
    let mut held = app.pool.begin().await.unwrap();
    sqlx::query("select from sites for update")
        .execute(&mut *held)
        .await
        .unwrap();
    let rotating = async || owner.post(&rotate, json!({})).await.ok();
    let (one, other, ()) = tokio::join!(rotating(), rotating(), async {
        app.until_waiting(2).await;
        held.rollback().await.unwrap();
    });
    let mut dropped = [&one["dropped"], &other["dropped"]];
    dropped.sort_by_key(|dropped| dropped.is_string());
    assert_eq!(dropped, [&Value::Null, &json!("previous")]);
}
