//! The settings of a site, and its rule groups.

use domain::{id::SiteId, role::Role, rules::InputRules, score::Category};
use management::{
    Caller,
    rule_groups::{self, NewRuleGroup},
    sites,
};
use poem::http::StatusCode;
use sqlx::PgPool;
use store::provider::{self, Registration};

use super::{ESCAPED, HOSTILE, audited, form, site};
use crate::browser::{Stage, between};

/// A form with valid settings; later pairs come first.
async fn settings(stage: &Stage, site: SiteId, pairs: &[(&str, &str)]) -> String {
    let caller = Caller::command_line(&stage.management);
    let site = sites::get(&caller, site).await.unwrap();
    let group = site.settings.default_rule_group.to_string();
    let usual = [
        ("name", "Forum"),
        ("on_failure", "review"),
        ("status_vocabulary", "state"),
        ("compat_store", "yes"),
        ("compat_unchecked", "flag"),
        ("image_retention_days", "30"),
        ("webhook_retention_days", "30"),
        ("default_rule_group_id", &group),
    ];
    form(&[pairs, &usual].concat())
}

#[sqlx::test(migrations = false)]
async fn an_admin_changes_every_setting(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let known = ["openai", "builtin"].map(|name| Registration {
        name: name.to_owned(),
        kind: "builtin",
        categories: vec![Category::Spam],
        image_categories: Vec::new(),
    });
    provider::register(&pool, &known).await.unwrap();
    let path = format!("/t/{}/sites/{forum}/settings", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let shown = admin.get(&path).await.text;
    assert!(shown.contains("Your plan allows 1,000."), "{shown}");
    assert!(shown.contains("Your plan allows 2,000."), "{shown}");

    let sent = settings(
        &stage,
        forum,
        &[
            ("name", HOSTILE),
            ("on_failure", "reject"),
            ("status_vocabulary", "completed"),
            ("provider_0", "builtin"),
            ("provider_1", "openai"),
            ("policy", HOSTILE),
            ("answer_cache_seconds", "60"),
            ("author_pointer", "/user/~0\"id"),
            ("compat_store", ""),
            ("compat_unchecked", "error"),
            ("submissions_per_minute", "100"),
            ("status_queries_per_minute", "200"),
            ("item_retention_days", "90"),
            ("content_retention_days", "30"),
            ("image_retention_days", "0"),
            ("webhook_retention_days", "7"),
        ],
    );
    let saved = admin.post(&path, &sent.await).await;
    assert_eq!(saved.leads_to(), format!("{path}?done=site-saved"));
    let caller = Caller::command_line(&stage.management);
    let now = sites::get(&caller, forum).await.unwrap();
    let now = serde_json::to_value(&now.settings).unwrap();
    for (name, value) in [
        ("name", serde_json::json!(HOSTILE)),
        ("on_failure", "reject".into()),
        ("status_vocabulary", "completed".into()),
        ("providers", serde_json::json!(["builtin", "openai"])),
        ("policy", HOSTILE.into()),
        ("answer_cache_seconds", 60.into()),
        ("author_pointer", "/user/~0\"id".into()),
        ("compat_store", false.into()),
        ("compat_unchecked", "error".into()),
        ("submissions_per_minute", 100.into()),
        ("status_queries_per_minute", 200.into()),
        ("item_retention_days", 90.into()),
        ("content_retention_days", 30.into()),
        ("image_retention_days", 0.into()),
        ("webhook_retention_days", 7.into()),
    ] {
        assert_eq!(now[name], value, "{name}");
    }
    assert_eq!(
        audited(&pool, "site.update").await,
        ["admin@market.example"]
    );
    let shown = admin.get(saved.leads_to()).await.text;
    assert!(shown.contains("The settings were saved"), "{shown}");
    assert!(!shown.contains("<script>alert"), "{shown}");
    assert!(
        shown.contains(&format!("value=\"{ESCAPED}\"")),
        "the name: {shown}"
    );
    let policy = between(&shown, "<textarea name=\"policy\"", "</textarea>");
    assert!(policy.ends_with(&format!(">\n{ESCAPED}")), "{policy}");

    // Empty fields are the plan's limits, the operator's order and policy, and no answers that are kept.
    let emptied = settings(&stage, forum, &[]).await;
    admin.post(&path, &emptied).await.leads_to();
    let now = sites::get(&caller, forum).await.unwrap();
    let now = now.settings;
    assert_eq!((now.providers, now.policy), (None, None));
    assert_eq!(now.answer_cache_seconds, None);
    assert_eq!(now.author_pointer, None);
    assert!(now.compat_store);
    assert_eq!(now.submissions_per_minute, None);
    assert_eq!(now.status_queries_per_minute, None);
}

#[sqlx::test(migrations = false)]
async fn mistakes_stand_at_their_fields_and_what_was_typed_stays(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    site(&stage, "Taken").await;
    let path = format!("/t/{}/sites/{forum}/settings", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let nobody = uuid::Uuid::now_v7().to_string();
    let long = "a".repeat(16_385);
    for (field, value, message) in [
        ("name", "", "Must have 1 to 100 characters"),
        ("name", "Taken", "Another one has this name"),
        ("on_failure", "ignore", "Must be one of the choices"),
        ("status_vocabulary", "", "Must be one of the choices"),
        ("policy", &long, "Must have 1 to 16384 bytes"),
        ("answer_cache_seconds", "0", "Must be a whole number"),
        ("author_pointer", "user/id", "Must be a JSON pointer"),
        ("author_pointer", " /user/id", "Must be a JSON pointer"),
        ("compat_unchecked", "maybe", "Must be one of the choices"),
        ("submissions_per_minute", "-1", "Must be a whole number"),
        ("status_queries_per_minute", "1.5", "Must be a whole number"),
        ("item_retention_days", "0", "Must be a whole number"),
        ("content_retention_days", "x", "Must be a whole number"),
        ("image_retention_days", "3651", "Must be a whole number"),
        ("webhook_retention_days", "", "Must be a whole number"),
        ("default_rule_group_id", "x", "Must be one of the choices"),
        ("default_rule_group_id", &nobody, "Is no rule group"),
    ] {
        let sent = settings(&stage, forum, &[(field, value), ("provider_3", HOSTILE)]).await;
        let sent = if field == "default_rule_group_id" && value == nobody {
            settings(&stage, forum, &[(field, value)]).await
        } else {
            sent
        };
        let wrong = admin.post(&path, &sent).await;
        assert_eq!(
            wrong.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{field}: {}",
            wrong.text
        );
        if (field, value) == ("name", "Taken") {
            continue;
        }
        let told = format!("id=\"{field}-problem\">{message}");
        assert!(wrong.text.contains(&told), "{field}: {}", wrong.text);
    }
    // The provider is refused first, and shown as it was typed.
    let sent = settings(
        &stage,
        forum,
        &[("provider_3", HOSTILE), ("name", "Forum 2")],
    )
    .await;
    let wrong = admin.post(&path, &sent).await.text;
    assert!(
        wrong.contains("id=\"providers-problem\">Is no configured provider"),
        "{wrong}"
    );
    assert!(
        wrong.contains(&format!("<option selected>{ESCAPED}</option>")),
        "{wrong}"
    );
    assert!(wrong.contains("value=\"Forum 2\""), "{wrong}");
    let sent = settings(&stage, forum, &[("name", "Taken")]).await;
    let wrong = admin.post(&path, &sent).await.text;
    assert!(
        wrong.contains("id=\"name-problem\">Another one has this name"),
        "{wrong}"
    );
    assert!(audited(&pool, "site.update").await.is_empty());
}

#[sqlx::test(migrations = false)]
async fn a_viewer_cannot_open_or_change_the_settings(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}", stage.team);
    let mut viewer = stage.person("viewer@market.example", Role::Viewer).await;
    let opened = viewer.get(&format!("{path}/settings")).await;
    assert_eq!(opened.status, StatusCode::FORBIDDEN);
    for sent in [
        settings(&stage, forum, &[("name", "Mine")]).await,
        String::new(),
    ] {
        let refused = viewer.post(&format!("{path}/settings"), &sent).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    for (place, sent) in [("groups", "group=x"), ("groups", "")] {
        let refused = viewer.post(&format!("{path}/{place}"), sent).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN);
    }
    assert!(audited(&pool, "site.update").await.is_empty());
}

#[sqlx::test(migrations = false)]
async fn rule_groups_are_attached_and_detached(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let caller = Caller::command_line(&stage.management);
    let new = NewRuleGroup {
        name: HOSTILE.parse().unwrap(),
        team: Some(stage.team),
        rules: InputRules::default(),
        note: None,
    };
    let made = rule_groups::create(&caller, new).await;
    let group = made.unwrap().group.id;
    let path = format!("/t/{}/sites/{forum}", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let offered = admin.get(&format!("{path}/settings")).await.text;
    assert!(
        offered.contains(&format!("<option value=\"{group}\">{ESCAPED}</option>")),
        "{offered}"
    );
    let attach = format!("{path}/groups");
    for unknown in ["", "x", &uuid::Uuid::now_v7().to_string()] {
        let wrong = admin.post(&attach, &form(&[("group", unknown)])).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        let told = "id=\"group-problem\">Must be one of your rule groups.";
        assert!(wrong.text.contains(told), "{}", wrong.text);
    }
    let attached = admin
        .post(&attach, &form(&[("group", &group.to_string())]))
        .await;
    let shown = admin.get(attached.leads_to()).await.text;
    let detach = format!("{path}/groups/{group}/detach");
    assert!(shown.contains(&format!("action=\"{detach}\"")), "{shown}");
    let now = sites::get(&caller, forum).await.unwrap();
    assert_eq!(now.settings.rule_groups, [group]);
    let overview = admin.get(&path).await.text;
    assert!(overview.contains(ESCAPED), "{overview}");

    admin.post(&detach, "").await.leads_to();
    let now = sites::get(&caller, forum).await.unwrap();
    assert!(now.settings.rule_groups.is_empty());
    assert_eq!(audited(&pool, "site.update").await.len(), 2);
}

#[sqlx::test(migrations = false)]
async fn who_saves_after_somebody_else_is_told_and_changes_nothing(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}/settings", stage.team);
    let mut ada = stage.person("ada@market.example", Role::Admin).await;
    let mut eve = stage.person("eve@market.example", Role::Admin).await;
    sqlx::query("update users set name = $1 where email = 'ada@market.example'")
        .bind(HOSTILE)
        .execute(&pool)
        .await
        .unwrap();
    let seen = |page: &str| between(page, "name=\"seen\" value=\"", "\"").to_owned();
    let first = seen(&ada.get(&path).await.text);
    assert_eq!(first, seen(&eve.get(&path).await.text));
    let by_ada = settings(&stage, forum, &[("policy", "Of Ada"), ("seen", &first)]).await;
    ada.post(&path, &by_ada).await.leads_to();

    // A mistake does not count as having seen the change.
    let wrong = [("webhook_retention_days", "0"), ("seen", &first)];
    let wrong = eve
        .post(&path, &settings(&stage, forum, &wrong).await)
        .await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(seen(&wrong.text), first);

    let by_eve = [("policy", "Of Eve"), ("seen", &first)];
    let late = eve
        .post(&path, &settings(&stage, forum, &by_eve).await)
        .await;
    assert_eq!(late.status, StatusCode::CONFLICT, "{}", late.text);
    let told = format!("{ESCAPED} has changed this since you opened this page (");
    assert!(late.text.contains(&told), "{}", late.text);
    assert!(late.text.contains("Of Eve</textarea>"), "{}", late.text);
    let caller = Caller::command_line(&stage.management);
    let now = sites::get(&caller, forum).await.unwrap();
    assert_eq!(
        now.settings.policy.map(String::from).as_deref(),
        Some("Of Ada")
    );
    assert_eq!(audited(&pool, "site.update").await, ["ada@market.example"]);

    // Who has been told saves.
    let told = seen(&late.text);
    assert_ne!(told, first);
    let again = [("policy", "Of Eve"), ("seen", &told)];
    let saved = eve
        .post(&path, &settings(&stage, forum, &again).await)
        .await;
    assert_eq!(saved.leads_to(), format!("{path}?done=site-saved"));

    // In another window of the same person; and a change by somebody who is not named.
    let own = [("policy", "Again"), ("seen", &told)];
    let own = eve.post(&path, &settings(&stage, forum, &own).await).await;
    assert!(
        own.text
            .contains("You have changed this in another window since"),
        "{}",
        own.text
    );
    sites::update(&caller, forum, |settings| sites::Settings {
        policy: None,
        ..settings
    })
    .await
    .unwrap();
    let late = [("policy", "Again"), ("seen", &told)];
    let late = eve.post(&path, &settings(&stage, forum, &late).await).await;
    assert!(
        late.text.contains("Somebody has changed this since"),
        "{}",
        late.text
    );
}

#[sqlx::test(migrations = false)]
async fn a_rule_group_that_is_attached_meanwhile_does_not_disturb(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}/settings", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let page = admin.get(&path).await.text;
    let seen = between(&page, "name=\"seen\" value=\"", "\"").to_owned();
    let caller = Caller::command_line(&stage.management);
    let new = NewRuleGroup {
        name: "More".parse().unwrap(),
        team: Some(stage.team),
        rules: InputRules::default(),
        note: None,
    };
    let group = rule_groups::create(&caller, new).await;
    let group = group.unwrap().group.id;
    rule_groups::attachments::attach(&caller, forum, group)
        .await
        .unwrap();
    let sent = [("policy", "Mine"), ("seen", seen.as_str())];
    let saved = admin
        .post(&path, &settings(&stage, forum, &sent).await)
        .await;
    assert_eq!(saved.leads_to(), format!("{path}?done=site-saved"));
    let now = sites::get(&caller, forum).await.unwrap();
    assert_eq!(now.settings.rule_groups, [group]);
}

#[sqlx::test(migrations = false)]
async fn the_page_says_what_goes_now(pool: PgPool) {
    let stage = Stage::new(pool.clone()).await;
    let forum = site(&stage, "Forum").await;
    let path = format!("/t/{}/sites/{forum}/settings", stage.team);
    let mut admin = stage.person("admin@market.example", Role::Admin).await;
    let shown = admin.get(&path).await.text;
    for text in [
        "Now: items are kept; there is no item.",
        "Now: contents are kept as long as items.",
    ] {
        assert!(shown.contains(text), "{shown}");
    }
    sqlx::query(
        "with item as (
             insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict, created_at)
             select gen_random_uuid(), team_id, id, 'approved', 'text', 'a', '{}', 1, '2024-02-29 12:00Z'
             from sites where id = $1
             returning id
         ),
         setting as (
             update sites set item_retention_days = 90, content_retention_days = 60, webhook_retention_days = 7 where id = $1
         )
         insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace, moderated_at)
         select id, 1, 'approved', 'pending', 'ai', '{}', '{}', '2024-03-01 12:00Z' from item",
    )
    .bind(forum.as_uuid())
    .execute(&pool)
    .await
    .unwrap();
    let shown = admin.get(&path).await.text;
    for text in [
        "Now: removes items judged before ",
        "; the oldest item is of 29 February 2024.",
        "Now: removes contents of items judged before ",
        "; the oldest is of 29 February 2024 and goes on 30 April 2024 at the earliest.",
    ] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
}
