//! Deliveries and events: lists with filters, one delivery, and sending it again.

use domain::{id::DeliveryId, role::Role};
use poem::http::StatusCode;
use sqlx::PgPool;
use uuid::Uuid;

use super::SHOWN;
use crate::browser::{Stage, between};

#[sqlx::test(migrations = false)]
async fn deliveries_of_all_sites_are_listed_and_filtered(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/deliveries", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    assert!(viewer.get(&path).await.text.contains("No delivery yet"));

    let (shop, forum) = (stage.site("Shop").await, stage.site("Forum").await);
    let one = stage.endpoint(shop, "https://one.example/").await;
    let two = stage.endpoint(forum, "https://two.example/").await;
    let (failed, media) = stage.delivery(one, "exhausted").await;
    let (delivered, _) = stage.delivery(two, "delivered").await;
    let (waits, _) = stage.delivery(one, "pending").await;

    let all = viewer.get(&path).await.text;
    let place = |of: DeliveryId| all.find(&format!("/deliveries/{of}\"")).unwrap();
    assert!(place(waits) < place(delivered) && place(delivered) < place(failed));
    for (filter, wanted) in [
        ("state=exhausted".to_owned(), vec![failed]),
        (format!("endpoint={one}"), vec![failed, waits]),
        (format!("site={forum}"), vec![delivered]),
        (format!("item={media}"), vec![failed]),
        ("event=media.moderated".to_owned(), vec![]),
        ("since=2999-01-01T00:00".to_owned(), vec![]),
        (
            "until=2999-01-01T00:00".to_owned(),
            vec![failed, delivered, waits],
        ),
    ] {
        let list = viewer.get(&format!("{path}?{filter}")).await;
        assert_eq!(list.status, StatusCode::OK, "{filter}");
        for one in [failed, delivered, waits] {
            let listed = list.text.contains(&format!("/deliveries/{one}\""));
            assert_eq!(listed, wanted.contains(&one), "{filter}: {one}");
        }
        assert_eq!(list.text.contains("No such delivery"), wanted.is_empty());
    }
    for (field, value) in [
        ("state", "lost"),
        ("item", "%3Cscript%3E"),
        ("since", "soon"),
    ] {
        let wrong = viewer.get(&format!("{path}?{field}={value}")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            wrong.text.contains(&format!("id=\"{field}-problem\"")),
            "{}",
            wrong.text
        );
        assert!(
            !wrong.text.contains(&format!("/deliveries/{failed}\"")),
            "nothing else is listed"
        );
    }
}

#[sqlx::test(migrations = false)]
async fn a_list_continues_on_the_next_page_with_its_filter(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://one.example/").await;
    for _ in 0..51 {
        stage.delivery(endpoint, "exhausted").await;
    }
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    for list in ["deliveries", "events"] {
        let path = format!("/t/{}/{list}?site={site}", stage.team);
        let first = viewer.get(&path).await.text;
        let rows = |page: &str| page.matches("/deliveries/0").count();
        assert_eq!(rows(&first), 50, "{list}");
        let next = between(&first, "class=\"button\" href=\"?", "\" rel=\"next\"");
        assert!(next.contains(&site.to_string()), "{next}");
        let next = next.replace("&#38;", "&");
        let second = viewer
            .get(&format!("/t/{}/{list}?{next}", stage.team))
            .await;
        assert_eq!(rows(&second.text), 1, "{list}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_delivery_shows_what_was_sent_and_every_answer_and_is_sent_again(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let site = stage.site("Shop").await;
    let endpoint = stage.endpoint(site, "https://shop.example/hooks").await;
    let (delivery, media) = stage.delivery(endpoint, "exhausted").await;
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let path = format!("/t/{}/deliveries/{delivery}", stage.team);
    let page = admin.get(&path).await.text;
    for shown in [
        "exhausted",
        "1. It answered 503",
        "120 ms",
        "https://shop.example/hooks",
        SHOWN,
        "<code>webhook-signature</code></td><td><span class=\"quiet\">each attempt has its own",
        "<code>authorization</code></td><td><span class=\"quiet\">never shown",
        &format!("&#34;media_id&#34;:&#34;{media}&#34;"),
        "&#60;b&#62;",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("of-the-gateway") && !page.contains("<script>alert"));

    let resent = admin.post(&format!("{path}/resend"), "").await;
    assert_eq!(resent.leads_to(), format!("{path}?done=resent"));
    assert_eq!(
        stage
            .recorded_of("delivery.resend", delivery.as_uuid())
            .await,
        1
    );
    let page = admin.get(&path).await.text;
    assert!(
        page.contains("pending") && page.contains("Retry now"),
        "{page}"
    );
    let twice = admin.post(&format!("{path}/resend"), "").await;
    assert_eq!(twice.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        twice.text.contains("The delivery has not ended"),
        "{}",
        twice.text
    );
    let retried = admin.post(&format!("{path}/retry"), "").await;
    assert_eq!(retried.leads_to(), format!("{path}?done=retried"));
    assert_eq!(
        stage
            .recorded_of("endpoint.retry_now", endpoint.as_uuid())
            .await,
        1
    );
}

#[sqlx::test(migrations = false)]
async fn events_say_who_was_told_and_that_nobody_was(pool: PgPool) {
    let stage = Stage::new(pool).await;
    let path = format!("/t/{}/events", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    assert!(viewer.get(&path).await.text.contains("No event yet"));

    let (shop, forum) = (stage.site("Shop").await, stage.site("Forum").await);
    let one = stage.endpoint(shop, "https://one.example/").await;
    let (delivery, media) = stage.delivery(one, "exhausted").await;
    let untold = Uuid::now_v7();
    sqlx::query(
        "insert into events (id, media_id, site_id, kind) values ($1, $2, $3, 'media.created')",
    )
    .bind(untold)
    .bind(Uuid::now_v7())
    .bind(forum.as_uuid())
    .execute(stage.pool())
    .await
    .unwrap();

    let all = viewer.get(&path).await.text;
    assert!(
        all.contains("nobody") && all.contains(&untold.to_string()),
        "{all}"
    );
    let told = between(&all, &format!("/deliveries/{delivery}\""), "</li>");
    assert!(
        told.contains("one.example") && told.contains("exhausted"),
        "{told}"
    );
    for (filter, both) in [
        (format!("site={shop}"), [true, false]),
        (format!("site={forum}"), [false, true]),
        (format!("item={media}"), [true, false]),
        ("event=media.created".to_owned(), [true, true]),
        ("event=media.moderated".to_owned(), [false, false]),
        ("until=2000-01-01T00:00".to_owned(), [false, false]),
    ] {
        let list = viewer.get(&format!("{path}?{filter}")).await.text;
        let listed = [delivery.to_string(), untold.to_string()].map(|id| list.contains(&id));
        assert_eq!(listed, both, "{filter}");
    }
    let wrong = viewer.get(&format!("{path}?event=all")).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
}
