//! The list of endpoints, and a new one.

use domain::{id::EndpointId, role::Role};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use super::{HOSTILE, SHOWN};
use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn failing_endpoints_of_all_sites_come_first_with_their_cause(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/webhooks", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let empty = viewer.get(&path).await;
    assert_eq!(empty.status, StatusCode::OK);
    assert!(empty.text.contains("No endpoint yet"), "{}", empty.text);

    let (shop, forum) = (stage.site("Shop").await, stage.site("Forum").await);
    stage.endpoint(shop, "https://well.example/hooks").await;
    let ill = stage.endpoint(forum, "https://ill.example/hooks").await;
    stage.fails(ill).await;
    stage.delivery(ill, "pending").await;
    let page = viewer.get(&path).await.text;
    assert!(page.contains("One endpoint fails."), "{page}");
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what}: {page}"));
    assert!(
        place("ill.example</a>") < place("well.example</a>"),
        "{page}"
    );
    let row = between(&page, "class=\"bad\"", "</tr>");
    for shown in [
        "failing",
        "began",
        "open",
        "next try",
        "It answered 503",
        ">1<",
    ] {
        assert!(row.contains(shown), "{shown}: {row}");
    }

    let of_shop = viewer.get(&format!("{path}?site={shop}")).await.text;
    assert!(of_shop.contains("well.example") && !of_shop.contains("ill.example"));
    let nobody = viewer.get(&format!("{path}?site={}", Uuid::now_v7())).await;
    assert_eq!(nobody.status, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = false)]
async fn a_new_endpoint_is_created_and_mistakes_are_told_at_their_field(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let path = format!("/t/{}/webhooks/new", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let form = admin.get(&path).await.text;
    assert!(
        form.contains("Shop") && form.contains("media.moderated"),
        "{form}"
    );

    let events = "event-media.created=yes";
    for (fields, field, message) in [
        (
            format!("site={site}&url=nothing&{events}"),
            "url",
            "Must be a URL such as",
        ),
        (
            format!("site={site}&url=https://inside.example/&{events}"),
            "url",
            "Must have a public address",
        ),
        (
            format!("site={site}&url=https://a.example/&{events}&max_per_second=0"),
            "max_per_second",
            "Must be a whole number from 1 to 10000",
        ),
        (
            format!("site={site}&url=https://a.example/"),
            "events",
            "Must name at least one kind of event",
        ),
        (
            format!("site={site}&url=https://a.example/&{events}&headers=X-A:+1%0D%0AHost:+b"),
            "headers",
            "Line 2: this header is set by the service",
        ),
        (
            format!("url=https://a.example/&{events}"),
            "site",
            "Must be one of your sites",
        ),
    ] {
        let wrong = admin.post(&path, &fields).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{fields}");
        let told = between(&wrong.text, &format!("id=\"{field}-problem\">"), "</p>");
        assert!(told.starts_with(message), "{fields}: {told}");
    }

    let fields = format!(
        "site={site}&url=https://a.example/hooks&{events}&max_per_second=5&headers=X-Key:+shown-never&description={}",
        "%3Cscript%3Ealert(1)%3C/script%3E%22'%26"
    );
    let created = admin.post(&path, &fields).await;
    let page = created.leads_to().to_owned();
    let id: Uuid = between(&page, "/webhooks/", "?").parse().unwrap();
    assert_eq!(stage.recorded_of("endpoint.create", id).await, 1);
    let page = admin.get(&page).await.text;
    for shown in [
        SHOWN.trim_end_matches('\u{202e}'),
        "The endpoint was created",
        "5 requests a second",
        "x-key",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("shown-never") && !page.contains("<script>alert"));

    let hostile = format!("site={site}&url=x&headers={}", urlencode(HOSTILE));
    let again = admin.post(&path, &hostile).await.text;
    assert!(again.contains(SHOWN), "what was typed stays: {again}");
}

#[sqlx::test(migrations = false)]
async fn a_full_plan_is_told_in_words(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    for number in 0..10 {
        let url = format!("https://a.example/{number}");
        let _: EndpointId = stage.endpoint(site, &url).await;
    }
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/webhooks/new", stage.team);
    let fields = format!("site={site}&url=https://a.example/&event-media.created=yes");
    let full = admin.post(&path, &fields).await;
    assert_eq!(full.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        full.text.contains("The plan allows 10 webhook endpoints"),
        "{}",
        full.text
    );
}

fn urlencode(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
