//! The page of an endpoint, and what can be changed there.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;

use super::SHOWN;
use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn the_page_of_a_failing_endpoint_shows_why_and_what_to_do(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    stage.fails(endpoint).await;
    let (delivery, _) = stage.delivery(endpoint, "exhausted").await;
    stage.waits(delivery).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let page = admin.get(&path).await.text;
    for shown in [
        "It answered 503.",
        SHOWN,
        "authorization",
        "Retry now",
        "Send test ping",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(page.contains(&format!("/deliveries/{delivery}")), "{page}");
    assert!(!page.contains("of-the-gateway") && !page.contains("<script>alert"));

    let retried = admin.post(&format!("{path}/retry"), "").await;
    assert_eq!(retried.leads_to(), format!("{path}?done=retried"));
    assert_eq!(
        stage
            .recorded_of("endpoint.retry_now", endpoint.as_uuid())
            .await,
        1
    );
    let again = admin.post(&format!("{path}/retry"), "").await;
    assert_eq!(again.leads_to(), format!("{path}?done=nothing-waits"));
    let well = admin.get(&format!("{path}?done=retried")).await.text;
    assert!(
        well.contains("are due now") && !well.contains("class=\"alert no\""),
        "{well}"
    );
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_is_disabled_for_a_reason_and_enabled(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let wrong = admin.post(&format!("{path}/disable"), "reason=+").await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = between(&wrong.text, "id=\"reason-problem\">", "</p>");
    assert!(told.starts_with("Must have 1 to 1000 characters"), "{told}");

    let fields = "reason=%3Cscript%3Ealert(1)%3C/script%3E%22'%26%E2%80%AE";
    let disabled = admin.post(&format!("{path}/disable"), fields).await;
    assert_eq!(
        disabled.leads_to(),
        format!("{path}?done=endpoint-disabled")
    );
    let page = admin.get(&path).await.text;
    assert!(page.contains("disabled") && page.contains(SHOWN), "{page}");
    assert!(
        !page.contains("Retry now") && !page.contains(">Recover<"),
        "{page}"
    );
    let enabled = admin.post(&format!("{path}/enable"), "").await;
    assert_eq!(enabled.leads_to(), format!("{path}?done=endpoint-enabled"));
    assert!(!admin.get(&path).await.text.contains(SHOWN));
    for action in ["endpoint.disable", "endpoint.enable"] {
        assert_eq!(
            stage.recorded_of(action, endpoint.as_uuid()).await,
            1,
            "{action}"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn settings_are_changed_and_headers_replaced_without_being_shown(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let page = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let path = format!("{page}/settings");
    let form = admin.get(&path).await.text;
    assert!(
        form.contains("value=\"https://shop.example/hooks\"") && form.contains("authorization")
    );
    assert!(!form.contains("of-the-gateway"), "{form}");

    let wrong = admin
        .post(&path, "url=https://inside.example/&event-media.created=yes")
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    let told = between(&wrong.text, "id=\"url-problem\">", "</p>");
    assert_eq!(told, "Must have a public address.");
    assert!(
        wrong.text.contains("value=\"https://inside.example/\""),
        "what was typed stays"
    );

    let fields = "url=https://shop.example/new&event-media.moderated=yes&max_per_second=7";
    let changed = admin.post(&path, fields).await;
    assert_eq!(changed.leads_to(), format!("{page}?done=endpoint-changed"));
    let shown = admin.get(&page).await.text;
    assert!(shown.contains("https://shop.example/new") && shown.contains("7 requests a second"));
    assert!(shown.contains("<dd>media.moderated</dd>"), "{shown}");
    assert!(shown.contains("authorization"), "headers stay: {shown}");

    let headers = format!("{page}/headers");
    let none = admin.post(&headers, "headers=").await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        none.text.contains("id=\"headers-problem\""),
        "{}",
        none.text
    );
    let replaced = admin.post(&headers, "headers=X-New:+secret-value").await;
    assert_eq!(replaced.leads_to(), format!("{page}?done=headers-replaced"));
    let shown = admin.get(&page).await.text;
    assert!(
        shown.contains("x-new") && !shown.contains("authorization"),
        "{shown}"
    );
    assert!(!shown.contains("secret-value"), "{shown}");
    admin.post(&headers, "headers=&remove=yes").await.leads_to();
    assert!(admin.get(&page).await.text.contains("none of its own"));
    assert_eq!(
        stage
            .recorded_of("endpoint.update", endpoint.as_uuid())
            .await,
        3
    );
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_is_deleted_when_its_host_was_typed(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage
        .endpoint(site, "https://shop.example:8443/hooks")
        .await;
    let (delivery, _) = stage.delivery(endpoint, "exhausted").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let team = format!("/t/{}", stage.team);
    let path = format!("{team}/webhooks/{endpoint}");
    for typed in ["", "typed=shop.example", "typed=SHOP.example:8443"] {
        let wrong = admin.post(&format!("{path}/delete"), typed).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{typed}");
        let told = between(&wrong.text, "id=\"typed-problem\">", "</p>");
        assert_eq!(told, "Is not the host of this endpoint.");
    }
    let deleted = admin
        .post(&format!("{path}/delete"), "typed=shop.example:8443")
        .await;
    assert_eq!(
        deleted.leads_to(),
        format!("{team}/webhooks?done=endpoint-deleted")
    );
    assert_eq!(admin.get(&path).await.status, StatusCode::NOT_FOUND);
    assert_eq!(
        stage
            .recorded_of("endpoint.delete", endpoint.as_uuid())
            .await,
        1
    );
    let list = admin.get(&format!("{team}/deliveries")).await.text;
    assert!(list.contains("deleted"), "{list}");
    let kept = admin.get(&format!("{team}/deliveries/{delivery}")).await;
    assert_eq!(kept.status, StatusCode::OK);
    assert!(kept.text.contains("an endpoint that was deleted") && !kept.text.contains("Resend"));
}

#[sqlx::test(migrations = false)]
async fn who_saves_an_endpoint_after_somebody_else_is_told_and_changes_nothing(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    let mut ada = stage.person("ada@market.example", Role::Admin).await;
    let mut eve = stage.person("eve@market.example", Role::Admin).await;
    let page = format!("/t/{}/webhooks/{endpoint}", stage.team);
    let path = format!("{page}/settings");
    let seen = |page: &str| between(page, "name=\"seen\" value=\"", "\"").to_owned();
    let first = seen(&eve.get(&path).await.text);

    // Headers are replaced apart, and disturb nobody.
    ada.post(&format!("{page}/headers"), "headers=X-New:+value")
        .await
        .leads_to();
    assert_eq!(seen(&ada.get(&path).await.text), first);
    let form = |limit: u8, seen: &str| {
        format!(
            "url=https://shop.example/hooks&event-media.created=yes&max_per_second={limit}&seen={seen}"
        )
    };
    ada.post(&path, &form(7, &first)).await.leads_to();
    let late = eve.post(&path, &form(9, &first)).await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.text);
    assert!(
        late.text.contains("Ada has changed this since"),
        "{}",
        late.text
    );
    assert!(late.text.contains("value=\"9\""), "what was typed stays");
    let shown = eve.get(&page).await.text;
    assert!(shown.contains("7 requests a second"), "{shown}");
    let saved = eve.post(&path, &form(9, &seen(&late.text))).await;
    assert_eq!(saved.leads_to(), format!("{page}?done=endpoint-changed"));
}
