//! Sites and what of them can be changed.

use std::time::Duration;

use domain::{id::TeamId, score::Category};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::{
    encryption::MasterKey,
    provider::{self, Registration, State},
    rule_group::{self, NewVersion},
    site,
};

use super::document::assert_answers;
use crate::app::{App, SUBMIT, Tenant};

impl App {
    async fn create_group(&self, team: TeamId, name: &str) -> String {
        let mut tx = self.pool.begin().await.unwrap();
        let version = NewVersion {
            rules: &[],
            categories: &[Category::Violence],
        };
        let group = rule_group::create(&mut tx, team, name, version)
            .await
            .unwrap();
        tx.commit().await.unwrap();
        group.to_string()
    }

    fn site_path(&self) -> String {
        format!("/sites/{}", self.tenant.site)
    }
}

#[sqlx::test(migrations = false)]
async fn a_new_site_is_shown_with_its_secret_once_and_works_with_its_first_key(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = app.create_group(app.tenant.team, "strict").await;
    let request = json!({ "name": "Comments", "default_rule_group_id": group });
    let answer = member.post("/sites", request).await;
    let site = answer.created();
    assert_answers("POST", "/sites", &site);
    let mut expected = json!({
        "team_id": app.tenant.team,
        "name": "Comments",
        "on_failure": "review",
        "status_vocabulary": "state",
        "providers": null,
        "policy": null,
        "answer_cache_seconds": null,
        "author_pointer": null,
        "compat_store": true,
        "compat_unchecked": "flag",
        "submissions_per_minute": null,
        "status_queries_per_minute": null,
        "image_retention_days": 30,
        "webhook_retention_days": 30,
        "item_retention_days": null,
        "content_retention_days": null,
        "default_rule_group_id": group,
        "rule_group_ids": [],
        "closure_id": null,
        "closed_at": null,
    });
    for member in ["id", "created_at", "webhook_secret"] {
        expected[member] = site[member].clone();
    }
    assert_eq!(site, expected);

    let id = site["id"].as_str().unwrap();
    let secret = site["webhook_secret"].as_str().unwrap();
    let mut conn = app.pool.acquire().await.unwrap();
    let kept =
        site::webhook_secret::signing(&mut conn, &MasterKey::new([7; 32]), id.parse().unwrap())
            .await
            .unwrap();
    assert_eq!(kept.unwrap().current.expose(), secret);
    let path = format!("/sites/{id}");
    for answer in [
        member.get(&path).await,
        member.get("/sites").await,
        member.get("/audit-log").await,
    ] {
        answer.ok();
        assert!(answer.body.contains("Comments") && !answer.body.contains("whsec_"));
    }

    let key = member
        .post(&format!("{path}/keys"), json!({}))
        .await
        .created();
    let submission = json!({ "api_key": key["secret"], "body": "hello" });
    app.post(SUBMIT, &submission).await.ok();
    let judged_by_the_sites_group =
        "select count(*) from media m join rule_group_versions v on v.id = any(m.group_versions)
         join rule_groups g on g.id = v.rule_group_id where g.name = 'strict'";
    assert_eq!(app.count(judged_by_the_sites_group).await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_patch_changes_what_it_names_and_the_log_tells_what(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let path = app.site_path();
    let before = member.get(&path).await.ok();
    assert_answers("GET", "/sites/{site_id}", &before);
    let default = before["default_rule_group_id"].clone();
    let (first, second) = (
        app.create_group(app.tenant.team, "first").await,
        app.create_group(app.tenant.team, "second").await,
    );

    // In any order, and twice: what comes back is in order, and once.
    let change = json!({
        "on_failure": "reject",
        "submissions_per_minute": 10,
        "rule_group_ids": [second, first, second],
    });
    let after = member.patch(&path, change).await.ok();
    let mut expected = before.clone();
    expected["on_failure"] = "reject".into();
    expected["submissions_per_minute"] = 10.into();
    expected["rule_group_ids"] = json!([first, second]);
    assert_eq!(after, expected);
    assert_eq!(member.get(&path).await.ok(), expected);
    let log = member.get("/audit-log?action=site.update").await.ok();
    assert_eq!(
        log["data"][0]["details"],
        json!({ "changed": {
            "on_failure": { "from": "review", "to": "reject" },
            "submissions_per_minute": { "from": null, "to": 10 },
            "rule_group_ids": { "from": [], "to": [first, second] },
        } })
    );

    for nothing in [
        json!({}),
        json!({ "on_failure": "reject", "default_rule_group_id": default }),
    ] {
        assert_eq!(member.patch(&path, nothing).await.ok(), expected);
    }
    assert_eq!(
        app.count("select count(*) from audit_log where action = 'site.update'")
            .await,
        1
    );
    let back = json!({
        "name": before["name"],
        "on_failure": "review",
        "submissions_per_minute": null,
        "rule_group_ids": [],
    });
    assert_eq!(member.patch(&path, back).await.ok(), before);
}

#[sqlx::test(migrations = false)]
async fn a_site_chooses_among_the_providers_that_workers_have_told_of(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let (path, list) = (app.site_path(), "/providers");
    assert_eq!(member.get(list).await.ok(), json!({ "data": [] }));
    let told = |name: &str, categories: &[Category], of_images: &[Category]| Registration {
        name: name.to_owned(),
        kind: "http",
        categories: categories.to_vec(),
        image_categories: of_images.to_vec(),
    };
    let (own, other) = (
        told("own", &[Category::Spam, Category::Hate], &[Category::Hate]),
        told("other", &[], &[Category::Illicit]),
    );
    provider::register(&app.pool, &[own, other]).await.unwrap();
    let known = member.get(list).await.ok();
    assert_answers("GET", list, &known);
    assert_eq!(
        (&known["data"][0]["name"], &known["data"][1]["name"]),
        (&json!("own"), &json!("other"))
    );
    assert_eq!(known["data"][0]["categories"], json!(["spam", "hate"]));
    assert_eq!(known["data"][0]["image_categories"], json!(["hate"]));
    assert_eq!(known["data"][1]["categories"], json!([]));
    let mut conn = app.pool.acquire().await.unwrap();
    assert_eq!(
        provider::scorable(&mut conn).await.unwrap(),
        [Category::Hate, Category::Illicit, Category::Spam]
    );

    let change = json!({ "providers": ["other", "own"], "policy": "Spoilers are spam." });
    let site = member.patch(&path, change).await.ok();
    assert_eq!(site["providers"], json!(["other", "own"]));
    assert_eq!(site["policy"], "Spoilers are spam.");
    for (providers, at_fault) in [
        (json!(["own", "openai"]), "providers[1]"),
        (json!(["own", "other", "own"]), "providers[2]"),
    ] {
        let answer = member.patch(&path, json!({ "providers": providers })).await;
        answer.blames("invalid_request", &[at_fault]);
    }

    // It is paused for all who are to be told.
    let pause = |state: &mut State, now| state.paused_until = Some(now + Duration::from_mins(1));
    provider::change(&app.pool, "own:0", "own", pause)
        .await
        .unwrap();
    let known = member.get(list).await.ok();
    assert_answers("GET", list, &known);
    assert!(known["data"][0]["paused_until"].is_string(), "{known}");
    assert!(known["data"][1]["paused_until"].is_null(), "{known}");

    // Nobody has told of one for long: it is no choice any more, and may stand where it was chosen.
    sqlx::query("update providers set seen_at = seen_at - interval '25 hours' where name = 'own'")
        .execute(&app.pool)
        .await
        .unwrap();
    let renamed = member.patch(&path, json!({ "name": "renamed" })).await.ok();
    assert_eq!(renamed["providers"], json!(["other", "own"]));
    let answer = member.patch(&path, json!({ "providers": ["own"] })).await;
    answer.blames("invalid_request", &["providers[0]"]);
    let back = member
        .patch(&path, json!({ "providers": null, "policy": null }))
        .await
        .ok();
    assert!(back["providers"].is_null() && back["policy"].is_null());
}

#[sqlx::test(migrations = false)]
async fn the_next_submission_is_judged_by_the_groups_that_the_site_has_now(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    app.submitted("fills the cache").await;
    let group = app.create_group(app.tenant.team, "with analysis").await;
    let analyses = "select count(*) from queue.jobs where queue = 'analysis'";
    let mut expected = 0;
    for (change, analysed) in [
        (json!({ "rule_group_ids": [group] }), 1),
        (json!({ "rule_group_ids": [] }), 0),
        (json!({ "default_rule_group_id": group }), 1),
    ] {
        member.patch(&app.site_path(), change.clone()).await.ok();
        app.submitted("judged anew").await;
        expected += analysed;
        assert_eq!(app.count(analyses).await, expected, "{change}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_sites_limit_lowers_the_plans_and_never_raises_it(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let change = json!({ "submissions_per_minute": 1, "status_queries_per_minute": 1_000_000 });
    member.patch(&app.site_path(), change).await.ok();
    let policy =
        |answer: &crate::client::Answer| answer.header("ratelimit-policy").map(str::to_owned);
    let submitted = app.submit(json!({ "body": "a" })).await;
    assert!(
        policy(&submitted).unwrap().contains("q=1;"),
        "{submitted:?}"
    );
    let media = submitted.ok()["id"].clone();
    let asked = app
        .post_keyed(crate::app::STATUS, json!({ "media_id": media }))
        .await;
    assert!(policy(&asked).unwrap().contains("q=2000;"), "{asked:?}");
}

#[sqlx::test(migrations = false)]
async fn what_no_site_can_be_is_refused_by_name_and_changes_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await;
    let theirs = app.create_group(other.team, "theirs").await;
    let ours = app.create_group(app.tenant.team, "ours").await;
    let path = app.site_path();
    let before = member.get(&path).await.ok();

    let many = vec![ours.as_str(); 51];
    for (at_fault, change) in [
        ("name", json!({ "name": "" })),
        ("name", json!({ "name": null })),
        ("on_failure", json!({ "on_failure": "ignore" })),
        ("on_failure", json!({ "on_failure": null })),
        ("status_vocabulary", json!({ "status_vocabulary": "x" })),
        (
            "submissions_per_minute",
            json!({ "submissions_per_minute": 0 }),
        ),
        (
            "submissions_per_minute",
            json!({ "submissions_per_minute": 1_000_001 }),
        ),
        (
            "image_retention_days",
            json!({ "image_retention_days": -1 }),
        ),
        (
            "image_retention_days",
            json!({ "image_retention_days": 3_651 }),
        ),
        (
            "image_retention_days",
            json!({ "image_retention_days": null }),
        ),
        ("item_retention_days", json!({ "item_retention_days": 0 })),
        (
            "content_retention_days",
            json!({ "content_retention_days": 0 }),
        ),
        (
            "item_retention_days",
            json!({ "item_retention_days": 3_651 }),
        ),
        (
            "webhook_retention_days",
            json!({ "webhook_retention_days": 0 }),
        ),
        (
            "webhook_retention_days",
            json!({ "webhook_retention_days": 366 }),
        ),
        ("rule_group_ids", json!({ "rule_group_ids": many })),
        ("policy", json!({ "policy": " " })),
        ("answer_cache_seconds", json!({ "answer_cache_seconds": 0 })),
        (
            "answer_cache_seconds",
            json!({ "answer_cache_seconds": 604_801 }),
        ),
        ("author_pointer", json!({ "author_pointer": "" })),
        ("author_pointer", json!({ "author_pointer": "user/id" })),
        ("author_pointer", json!({ "author_pointer": "/a~2" })),
        ("author_pointer", json!({ "author_pointer": "/a\0" })),
        ("author_pointer", json!({ "author_pointer": "/".repeat(9) })),
        (
            "author_pointer",
            json!({ "author_pointer": format!("/{}", "a".repeat(200)) }),
        ),
        ("policy", json!({ "policy": "ü".repeat(8_193) })),
        ("providers", json!({ "providers": "own" })),
        ("providers", json!({ "providers": [] })),
        ("providers", json!({ "providers": vec!["own"; 21] })),
        ("providers[0]", json!({ "providers": ["own"] })),
        ("rule_group_ids", json!({ "rule_group_ids": null })),
        (
            "rule_group_ids[1]",
            json!({ "rule_group_ids": [ours, "x"] }),
        ),
        (
            "default_rule_group_id",
            json!({ "default_rule_group_id": null }),
        ),
        ("webhook_secret", json!({ "webhook_secret": "whsec_x" })),
        ("team_id", json!({ "team_id": other.team })),
    ] {
        let answer = member.patch(&path, change).await;
        answer.blames("invalid_request", &[at_fault]);
    }
    for group in [theirs.clone(), uuid::Uuid::now_v7().to_string()] {
        let answer = member
            .patch(&path, json!({ "default_rule_group_id": group }))
            .await;
        answer.blames("unknown_rule_group", &["default_rule_group_id"]);
        let answer = member
            .patch(&path, json!({ "rule_group_ids": [ours, group] }))
            .await;
        answer.blames("unknown_rule_group", &["rule_group_ids[1]"]);
        let new = json!({ "name": "new", "default_rule_group_id": group });
        let answer = member.post("/sites", new).await;
        answer.blames("unknown_rule_group", &["default_rule_group_id"]);
    }
    assert_eq!(member.get(&path).await.ok(), before);
    assert_eq!(app.count("select count(*) from sites").await, 2);
}

#[sqlx::test(migrations = false)]
async fn a_name_is_unique_in_its_team_and_may_be_another_teams(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    Tenant::create(&app.pool, "other").await;
    let group = app.create_group(app.tenant.team, "ours").await;
    let new = |name: &str| json!({ "name": name, "default_rule_group_id": group });
    member
        .post("/sites", new("main"))
        .await
        .problem(409, "name_taken");
    let site = member.post("/sites", new("other")).await.created();
    let path = format!("/sites/{}", site["id"].as_str().unwrap());
    let taken = member.patch(&path, json!({ "name": "main" })).await;
    taken.problem(409, "name_taken");
}

#[sqlx::test(migrations = false)]
async fn a_members_site_is_its_teams_and_an_operators_that_of_its_group(pool: PgPool) {
    let app = App::start(pool).await;
    let other = Tenant::create(&app.pool, "other").await;
    let (member, operator) = (app.member(app.tenant.team).await, app.operator().await);
    let group = app.create_group(app.tenant.team, "ours").await;
    let new = |name: &str, team: Option<Value>| {
        let mut body = json!({ "name": name, "default_rule_group_id": group });
        if let Some(team) = team {
            body["team_id"] = team;
        }
        body
    };
    let ours = json!(app.tenant.team);
    member
        .post("/sites", new("a", Some(ours.clone())))
        .await
        .created();
    let its_groups = operator.post("/sites", new("b", None)).await.created();
    assert_eq!(its_groups["team_id"], json!(app.tenant.team));
    let nobodys = json!({ "name": "b", "default_rule_group_id": uuid::Uuid::now_v7() });
    let nobodys = operator.post("/sites", nobodys).await;
    nobodys.blames("unknown_rule_group", &["default_rule_group_id"]);
    for team in [json!(other.team), json!(uuid::Uuid::now_v7())] {
        let answer = member.post("/sites", new("c", Some(team))).await;
        answer.blames("invalid_request", &["team_id"]);
    }
    let made = operator
        .post("/sites", new("d", Some(ours)))
        .await
        .created();
    assert_eq!(made["team_id"], json!(app.tenant.team));
    // The group decides nothing: it must be of the team that is named.
    let theirs = operator
        .post("/sites", new("e", Some(json!(other.team))))
        .await;
    theirs.blames("unknown_rule_group", &["default_rule_group_id"]);

    let names = |list: Value| -> Vec<Value> {
        let data = list["data"].as_array().unwrap();
        data.iter().map(|site| site["name"].clone()).collect()
    };
    assert_eq!(
        names(member.get("/sites").await.ok()),
        ["main", "a", "b", "d"]
    );
    assert_eq!(
        names(operator.get("/sites").await.ok()),
        ["main", "other", "a", "b", "d"]
    );
}
