//! Addresses that the operator opened for one team only.

use serde_json::json;
use sqlx::PgPool;

use super::{FILES, SOON, add_endpoint, neighbour, start, submit};
use crate::support::{DataDir, Receiver, admin, eventually, http, text};

#[sqlx::test(migrations = false)]
async fn case_44_the_demos_exemption_serves_the_demos_team_only(pool: PgPool) {
    let (receiver, theirs, data) = (
        Receiver::start().await,
        Receiver::start().await,
        DataDir::new(),
    );
    let other = neighbour(&pool, &receiver).await;
    add_endpoint(&pool, &other.id, &theirs.url()).await;
    let token = admin(
        &pool,
        &[
            "create-token",
            "--name",
            "operator",
            "--scopes",
            "webhooks:write",
        ],
    );
    let team: uuid::Uuid =
        sqlx::query_scalar("select team_id from sites where id = $1::text::uuid")
            .bind(&other.id)
            .fetch_one(&pool)
            .await
            .unwrap();
    let open = format!("{team}={}", theirs.host());
    let options = ["--webhook-url", &receiver.url(), "--egress-allow", &open];
    let up = start(&pool, &data, FILES, &options).await;
    // Deliveries to the demo's host are refused until the end.
    up.leaves_jobs();

    // An endpoint can be created only at addresses that the operator opened for its team.
    let base = up.demo().base_url.replace("/functions/", "/management/");
    for (site, url, expected) in [
        (&other.id, receiver.url(), 400),
        (&other.id, theirs.url(), 201),
        (&up.demo().site_id, receiver.url(), 201),
        (&up.demo().site_id, theirs.url(), 400),
    ] {
        let request = http().post(format!("{base}/sites/{site}/webhook-endpoints"));
        let request = request.bearer_auth(text(&token, "management_token"));
        let body = json!({ "url": format!("{url}defined") });
        let answer = request.json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        assert_eq!(status, expected, "{url}: {}", answer.text().await.unwrap());
    }

    let ours = submit(&up, &up.demo().site_key).await;
    receiver.event("media.moderated", &ours, SOON).await;
    let foreign = submit(&up, &other.key).await;
    theirs.event("media.moderated", &foreign, SOON).await;
    let outcome = eventually("an attempt at the demo's host", SOON, async || {
        sqlx::query_scalar::<_, String>(
            "select a.outcome from delivery_attempts a
             join deliveries d on d.id = a.delivery_id
             join webhook_endpoints p on p.id = d.endpoint_id
             where p.site_id = $1::text::uuid and p.url = $2 limit 1",
        )
        .bind(&other.id)
        .bind(receiver.url())
        .fetch_optional(&pool)
        .await
        .unwrap()
    })
    .await;
    assert_eq!(outcome, "refused");
    let told = receiver.received();
    assert!(
        told.iter()
            .all(|request| request.json()["data"]["media_id"] == ours.as_str())
    );
}
