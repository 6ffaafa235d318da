//! The authors of items: where a site says that they are, and lists by author, rule and category.

use domain::media::{ModerationType, Status};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{item_progress::Progress, verdict::Concluded};

use super::{super::document::assert_answers, ids};
use crate::app::{App, Tenant};

impl App {
    /// An item with this metadata.
    async fn with_metadata(&self, metadata: Value) -> String {
        let answer = self
            .submit(json!({ "body": "a", "metadata": metadata }))
            .await
            .ok();
        answer["id"].as_str().unwrap().to_owned()
    }
}

#[sqlx::test(migrations = false)]
async fn items_accepted_after_a_site_names_where_its_authors_are_have_one_and_are_found_by_it(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let site = format!("/sites/{}", app.tenant.site);
    let name = async |pointer: Value| {
        let changed = member
            .patch(&site, json!({ "author_pointer": pointer }))
            .await
            .ok();
        assert_eq!(changed["author_pointer"], pointer);
    };
    let ada = json!({ "user": { "id": "ada & é%" }, "n": 7 });
    let before = app.with_metadata(ada.clone()).await;
    name(json!("/user/id")).await;
    let named = app.with_metadata(ada.clone()).await;
    let again = app.with_metadata(ada.clone()).await;
    let nobody = app
        .with_metadata(json!({ "user": { "id": { "ada": 1 } } }))
        .await;
    let long = app
        .with_metadata(json!({ "user": { "id": "é".repeat(201) } }))
        .await;
    name(json!("/n")).await;
    let number = app.with_metadata(ada.clone()).await;
    name(Value::Null).await;
    let after = app.with_metadata(ada).await;

    let found = member.get("/media?author=ada%20%26%20%C3%A9%25").await;
    assert_eq!(ids(&found), [again.as_str(), &named]);
    assert_answers("GET", "/media", &found.ok());
    let page = member
        .get("/media?author=ada%20%26%20%C3%A9%25&limit=1")
        .await
        .ok();
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = format!("/media?author=ada%20%26%20%C3%A9%25&limit=1&cursor={cursor}");
    assert_eq!(ids(&member.get(&rest).await), [named.as_str()]);
    assert_eq!(ids(&member.get("/media?author=7").await), [number.as_str()]);
    for (media, author) in [
        (&before, Value::Null),
        (&named, json!("ada & é%")),
        (&nobody, Value::Null),
        (&long, Value::Null),
        (&number, json!("7")),
        (&after, Value::Null),
    ] {
        let item = member.get(&format!("/media/{media}")).await.ok();
        assert_eq!(item["author"], author, "{item}");
    }
    let log = member.get("/audit-log?action=site.update").await.ok();
    let changed = &log["data"][0]["details"]["changed"];
    assert_eq!(
        changed["author_pointer"],
        json!({ "from": "/n", "to": null })
    );
}

#[sqlx::test(migrations = false)]
async fn items_are_found_by_the_rule_that_matched_and_by_the_category_that_was_scored(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let stranger = app
        .member(Tenant::create(&app.pool, "other").await.team)
        .await;
    let rule = uuid::Uuid::now_v7();
    let media = app.submitted("a").await;
    app.in_review("b").await;
    let evidence = json!([{
        "rule_id": rule, "effect": "review",
        "evidence": { "kind": "score", "group": rule, "category": "self_harm", "score": 0.9, "threshold": 0.5 },
    }]);
    app.apply(Progress::from(Concluded {
        media: media.parse().unwrap(),
        status: Status::PendingReview,
        moderation_type: ModerationType::Ai,
        details: r#"{"rule_violations":[]}"#.into(),
        trace: json!({ "evidence": evidence, "unchecked": [], "unscored": ["spam"] }).to_string(),
        shadows: Vec::new(),
    }))
    .await;
    for (query, is_found) in [
        (format!("rule_id={rule}"), true),
        ("category=self_harm".to_owned(), true),
        (
            format!("rule_id={rule}&category=self_harm&status=pending_review"),
            true,
        ),
        (
            format!(
                "rule_id={rule}&category=self_harm&site_id={}",
                app.tenant.site
            ),
            true,
        ),
        (format!("rule_id={rule}&category=hate"), false),
        ("category=spam".to_owned(), false),
        (format!("rule_id={}", app.tenant.site), false),
        (format!("rule_id={rule}&author=a"), false),
    ] {
        let path = format!("/media?{query}");
        let expected = if is_found {
            vec![media.as_str()]
        } else {
            vec![]
        };
        assert_eq!(ids(&member.get(&path).await), expected, "{query}");
        assert!(ids(&stranger.get(&path).await).is_empty(), "{query}");
    }
    // A cursor goes with any of the filters.
    let page = member.get("/media?limit=1").await.ok();
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = member
        .get(&format!("/media?rule_id={rule}&limit=1&cursor={cursor}"))
        .await;
    assert_eq!(ids(&rest), [media.as_str()]);
}
