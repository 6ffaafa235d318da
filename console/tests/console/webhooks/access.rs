//! Who may see and do what: a viewer changes nothing, and another team's things do not exist.

use domain::role::Role;
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use crate::browser::Stage;

#[sqlx::test(migrations = false)]
async fn a_viewer_sees_all_and_is_offered_nothing_that_changes(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    stage.fails(endpoint).await;
    let (delivery, _) = stage.delivery(endpoint, "exhausted").await;
    let (waits, _) = stage.delivery(endpoint, "pending").await;
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let team = format!("/t/{}", stage.team);
    for path in [
        "webhooks".to_owned(),
        format!("webhooks/{endpoint}"),
        format!("webhooks/{endpoint}/recoveries"),
        "deliveries".to_owned(),
        format!("deliveries/{delivery}"),
        format!("deliveries/{waits}"),
        "events".to_owned(),
    ] {
        let page = viewer.get(&format!("{team}/{path}")).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.text);
        let forms = page.text.matches("method=\"post\"").count();
        assert_eq!(forms, 1, "only the one to sign out: {path}");
        for button in ["New endpoint", "/settings"] {
            assert!(!page.text.contains(button), "{path}: {button}");
        }
    }
    for path in [
        "webhooks/new".to_owned(),
        format!("webhooks/{endpoint}/settings"),
    ] {
        let page = viewer.get(&format!("{team}/{path}")).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
    }
    let valid = format!("site={site}&url=https://a.example/&event-media.created=yes");
    for (path, form) in [
        ("webhooks/new".to_owned(), valid.clone()),
        ("webhooks/new".to_owned(), "url=x".to_owned()),
        (format!("webhooks/{endpoint}/settings"), valid),
        (format!("webhooks/{endpoint}/settings"), "url=x".to_owned()),
        (
            format!("webhooks/{endpoint}/headers"),
            "headers=X-A:+1".to_owned(),
        ),
        (
            format!("webhooks/{endpoint}/delete"),
            "typed=shop.example".to_owned(),
        ),
        (format!("webhooks/{endpoint}/delete"), "typed=x".to_owned()),
        (
            format!("webhooks/{endpoint}/disable"),
            "reason=because".to_owned(),
        ),
        (format!("webhooks/{endpoint}/disable"), String::new()),
        (format!("webhooks/{endpoint}/enable"), String::new()),
        (format!("webhooks/{endpoint}/retry"), String::new()),
        (format!("webhooks/{endpoint}/ping"), String::new()),
        (
            format!("webhooks/{endpoint}/recoveries"),
            "kind=x".to_owned(),
        ),
        (format!("deliveries/{delivery}/resend"), String::new()),
        (format!("deliveries/{waits}/retry"), String::new()),
    ] {
        let refused = viewer.post(&format!("{team}/{path}"), &form).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{path} {form}");
    }
    let changes: i64 = sqlx::query_scalar(
        "select count(*) from audit_log where actor = 'member' and action ~ '^(endpoint|delivery|recovery)[.]'",
    )
    .fetch_one(stage.pool())
    .await
    .unwrap();
    assert_eq!(changes, 0);
}

#[sqlx::test(migrations = false)]
async fn what_belongs_to_another_team_is_answered_as_what_does_not_exist(pool: PgPool) {
    let mut stage = Stage::new(pool).await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let own = stage.team;
    let name = "Other".parse().unwrap();
    let caller = management::Caller::command_line(&stage.management);
    let other = management::teams::create(&caller, &name, None);
    stage.team = other.await.unwrap().id;
    let site = stage.site("Theirs").await;
    let endpoint = stage.endpoint(site, "https://theirs.example/hooks").await;
    let (delivery, media) = stage.delivery(endpoint, "exhausted").await;

    let missing = Uuid::now_v7().to_string();
    let team = format!("/t/{own}");
    for path in [
        "webhooks/{id}",
        "webhooks/{id}/settings",
        "webhooks/{id}/recoveries",
        "webhooks?site={id}",
        "deliveries?site={id}",
        "events?site={id}",
        "deliveries/{id}",
    ] {
        let theirs = match path {
            path if path.starts_with("deliveries/") => delivery.to_string(),
            path if path.contains("site=") => site.to_string(),
            _ => endpoint.to_string(),
        };
        let theirs = admin
            .get(&format!("{team}/{}", path.replace("{id}", &theirs)))
            .await;
        let none = admin
            .get(&format!("{team}/{}", path.replace("{id}", &missing)))
            .await;
        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(
            (theirs.status, theirs.text),
            (none.status, none.text),
            "{path}"
        );
    }
    for verb in [
        "settings",
        "headers",
        "delete",
        "disable",
        "enable",
        "retry",
        "ping",
        "recoveries",
    ] {
        let form = "url=https://a.example/&event-media.created=yes&headers=X-A:+1&typed=theirs.example&reason=x&kind=failed&since=2026-01-01T00:00";
        let theirs = admin
            .post(&format!("{team}/webhooks/{endpoint}/{verb}"), form)
            .await;
        let none = admin
            .post(&format!("{team}/webhooks/{missing}/{verb}"), form)
            .await;
        assert_eq!(theirs.status, StatusCode::NOT_FOUND, "{verb}");
        assert_eq!(
            (theirs.status, theirs.text),
            (none.status, none.text),
            "{verb}"
        );
    }
    let theirs = admin
        .post(&format!("{team}/deliveries/{delivery}/resend"), "")
        .await;
    assert_eq!(theirs.status, StatusCode::NOT_FOUND);
    for list in [
        format!("deliveries?endpoint={endpoint}"),
        format!("deliveries?item={media}"),
        format!("events?item={media}"),
        "webhooks".to_owned(),
    ] {
        let list = admin.get(&format!("{team}/{list}")).await.text;
        assert!(!list.contains("theirs.example") && !list.contains(&delivery.to_string()));
    }
    let form = format!("site={site}&url=https://a.example/&event-media.created=yes");
    let refused = admin.post(&format!("{team}/webhooks/new"), &form).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
}
