//! Recoveries: start, watch, cancel.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn a_recovery_is_started_watched_and_cancelled(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    stage.fails(endpoint).await;
    stage.delivery(endpoint, "exhausted").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let page = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let path = format!("{page}/recoveries");
    let empty = admin.get(&path).await.text;
    assert!(empty.contains("No recovery yet"), "{empty}");

    for (fields, field, message) in [
        (
            "kind=failed&since=yesterday",
            "since",
            "Must be a time such as",
        ),
        (
            "kind=failed&since=2020-01-01T00:00",
            "since",
            "Is more than 30 days ago",
        ),
        (
            "kind=failed&since=2999-01-01T00:00",
            "since",
            "Must be in the past",
        ),
        (
            "kind=all&since=2026-01-01T00:00",
            "kind",
            "Must be one of the three",
        ),
    ] {
        let wrong = admin.post(&path, fields).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields}");
        let told = between(&wrong.text, &format!("id=\"{field}-problem\">"), "</p>");
        assert!(told.starts_with(message), "{fields}: {told}");
    }

    // What the page suggests is accepted as it is.
    let form = admin.get(&page).await.text;
    let since = between(
        &form,
        "name=\"since\" type=\"datetime-local\" value=\"",
        "\"",
    );
    let fields = format!("kind=failed&since={since}&until=&event=");
    let started = admin.post(&path, &fields).await;
    assert_eq!(started.leads_to(), format!("{page}?done=recovery-started"));
    assert_eq!(
        stage
            .recorded_of("recovery.create", endpoint.as_uuid())
            .await,
        1
    );

    let second = admin.post(&path, &fields).await;
    assert_eq!(second.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        second.text.contains("has a recovery that has not ended"),
        "{}",
        second.text
    );

    sqlx::query(
        "update webhook_recoveries set looked_at = 1200, resent = 1100,
             walked_to = (select ('0' || lpad(to_hex(ms >> 16), 7, '0') || '-' || lpad(to_hex(ms & 65535), 4, '0')
                          || '-7000-8000-000000000000')::uuid
                          from (select ((extract(epoch from since) + extract(epoch from until)) * 500)::bigint as ms) t)",
    )
    .execute(stage.pool())
    .await
    .unwrap();
    let running = admin.get(&page).await.text;
    let rows = between(&running, "id=\"live-recoveries\" data-live", "</section>");
    for shown in ["what failed", "running", "1200", "1100", "Cancel"] {
        assert!(rows.contains(shown), "{shown}: {rows}");
    }
    let percent: i64 = between(rows, "<small>started", "</table>")
        .split_once(" %</small>")
        .and_then(|(before, _)| before.rsplit_once("<small>"))
        .and_then(|(_, percent)| percent.parse().ok())
        .unwrap();
    assert!((45..=55).contains(&percent), "{percent}");

    let id: Uuid = between(rows, "/recoveries/", "/cancel").parse().unwrap();
    let cancelled = admin.post(&format!("{path}/{id}/cancel"), "").await;
    assert_eq!(
        cancelled.leads_to(),
        format!("{page}?done=recovery-cancelled")
    );
    let list = admin.get(&path).await.text;
    assert!(
        list.contains("cancelled") && !list.contains("/cancel\""),
        "{list}"
    );
    assert_eq!(
        stage
            .recorded_of("recovery.cancel", endpoint.as_uuid())
            .await,
        1
    );
}
