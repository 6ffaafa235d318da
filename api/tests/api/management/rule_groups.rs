//! Rule groups: drafts, versions, attachments, and what becomes of submissions meanwhile.

mod audit_log;
mod documentation_page;
mod files;
mod shared_trial_pool;
mod trials;
mod validation_errors;
mod warnings;

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Caller, document::assert_answers};
use crate::app::{App, SUBMIT};

/// A rule that rejects a word.
fn word(name: &str, word: &str) -> Value {
    json!({ "name": name, "type": "keyword", "keywords": [word], "effect": "reject" })
}

impl Caller<'_> {
    /// A group of the caller's team with these rules; its id.
    pub(super) async fn new_group(&self, name: &str, rules: Value) -> String {
        let group = json!({ "name": name, "rules": rules });
        let group = self.post("/rule-groups", group).await.created();
        group["id"].as_str().unwrap().to_owned()
    }

    async fn draft(&self, group: &str) -> Value {
        self.get(&format!("/rule-groups/{group}/draft")).await.ok()
    }

    /// Replaces the draft, whatever its revision.
    async fn edit(&self, group: &str, rules: Value) -> Value {
        let revision = self.draft(group).await["revision"].clone();
        let change = json!({ "rules": rules, "revision": revision });
        self.put(&format!("/rule-groups/{group}/draft"), change)
            .await
            .ok()
    }

    /// Makes a version of the draft; its id.
    async fn make_version(&self, group: &str, live: bool) -> String {
        let revision = self.draft(group).await["revision"].clone();
        let new = json!({ "revision": revision, "live": live });
        let path = format!("/rule-groups/{group}/versions");
        let version = self.post(&path, new).await.created();
        version["id"].as_str().unwrap().to_owned()
    }

    /// A version of the draft that is not live; its id.
    pub(super) async fn spare_version(&self, group: &str) -> String {
        self.make_version(group, false).await
    }
}

impl App {
    /// The versions that judge an item which names this group.
    async fn judges(&self, group: &str) -> Vec<String> {
        let body = json!({ "body": "a text", "rule_group_id": group });
        let media = self.submit(body).await.ok()["id"].clone();
        let versions: Vec<uuid::Uuid> =
            sqlx::query_scalar("select unnest(group_versions) from media where id = $1::uuid")
                .bind(media.as_str().unwrap())
                .fetch_all(&self.pool)
                .await
                .unwrap();
        versions.iter().map(ToString::to_string).collect()
    }
}

#[sqlx::test(migrations = false)]
async fn a_draft_judges_nothing_until_it_is_published_and_an_earlier_version_can_be_live_again(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([word("one", "one")])).await;
    let path = format!("/rule-groups/{group}");
    let first = member.get(&path).await.ok();
    assert_answers("GET", "/rule-groups/{rule_group_id}", &first);
    assert_eq!(first["live_version_number"], 1);
    assert_eq!(first["draft_edited"], false);
    let one = first["live_version_id"].as_str().unwrap().to_owned();
    assert_eq!(app.judges(&group).await, [one.as_str()]);

    // What is not edited shows the live version; rules keep their ids.
    let draft = member.draft(&group).await;
    assert_answers("GET", "/rule-groups/{rule_group_id}/draft", &draft);
    assert!(draft["rules"][0]["id"].is_string());
    let rules = json!([draft["rules"][0], word("two", "two")]);
    let edited = member.edit(&group, rules).await;
    assert_eq!(edited["rules"][0], draft["rules"][0]);
    assert_eq!(edited, member.draft(&group).await);
    assert_eq!(edited["edited"], true);
    assert_eq!(app.judges(&group).await, [one.as_str()]);

    let two = member.make_version(&group, true).await;
    assert_eq!(app.judges(&group).await, [two.as_str()]);
    let version = member.get(&format!("{path}/versions/{two}")).await.ok();
    assert_answers(
        "GET",
        "/rule-groups/{rule_group_id}/versions/{version_id}",
        &version,
    );
    assert_eq!(
        (&version["number"], &version["rules"]),
        (&json!(2), &edited["rules"])
    );
    let draft = member.draft(&group).await;
    assert_eq!(
        (&draft["edited"], &draft["rules"]),
        (&json!(false), &edited["rules"])
    );

    // A version that is made without being live judges nothing.
    let three = member.make_version(&group, false).await;
    assert_eq!(app.judges(&group).await, [two.as_str()]);
    let live = json!({ "version_id": one });
    let after = member.put(&format!("{path}/live-version"), live).await.ok();
    assert_eq!(after["live_version_number"], 1);
    assert_eq!(app.judges(&group).await, [one.as_str()]);

    let versions = member.get(&format!("{path}/versions")).await.ok();
    assert_answers("GET", "/rule-groups/{rule_group_id}/versions", &versions);
    let ids = |list: &Value, name: &str| -> Vec<Value> {
        let data = list["data"].as_array().unwrap();
        data.iter().map(|entry| entry[name].clone()).collect()
    };
    assert_eq!(ids(&versions, "id"), [json!(three), json!(two), json!(one)]);
    let publications = member.get(&format!("{path}/publications")).await.ok();
    assert_answers(
        "GET",
        "/rule-groups/{rule_group_id}/publications",
        &publications,
    );
    assert_eq!(
        ids(&publications, "version_id"),
        [json!(one), json!(two), json!(one)]
    );
    let by = json!(member.id().await);
    assert!(
        ids(&publications, "published_by")
            .iter()
            .all(|id| *id == by)
    );
    let actions = member.get(&format!("/audit-log?target_id={group}")).await;
    assert_eq!(
        ids(&actions.ok(), "action"),
        [
            "rule_group.publish",
            "rule_group.version",
            "rule_group.publish",
            "rule_group.edit",
            "rule_group.create"
        ]
    );
}

#[sqlx::test(migrations = false)]
async fn nobody_overwrites_what_he_has_not_seen(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    let path = format!("/rule-groups/{group}/draft");
    let seen = member.draft(&group).await["revision"].clone();
    let change = |text: &str| json!({ "rules": [word(text, text)], "revision": seen });
    let (one, other) = tokio::join!(
        member.put(&path, change("one")),
        member.put(&path, change("other"))
    );
    let (won, lost) = if one.status == 200 {
        (one, other)
    } else {
        (other, one)
    };
    lost.problem(409, "draft_changed");
    assert_eq!(won.ok(), member.draft(&group).await);

    let versions = format!("/rule-groups/{group}/versions");
    let late = member.post(&versions, json!({ "revision": seen })).await;
    late.problem(409, "draft_changed");
    let import = format!("/rule-groups/{group}/import?revision={seen}");
    let file = json!({ "name": "x", "rules": [] });
    member
        .post(&import, file)
        .await
        .problem(409, "draft_changed");
    // What goes live changes what an untouched draft shows.
    let made = member.make_version(&group, true).await;
    let seen = member.draft(&group).await["revision"].clone();
    member.make_version(&group, true).await;
    let live = json!({ "version_id": made });
    let live_path = format!("/rule-groups/{group}/live-version");
    member.put(&live_path, live).await.ok();
    let change = json!({ "rules": [], "revision": seen });
    let stale = member.put(&path, change).await;
    stale.problem(409, "draft_changed");

    member.edit(&group, json!([word("x", "x")])).await;
    let discarded = member.delete(&path).await.ok();
    assert_eq!(discarded, member.draft(&group).await);
    assert_eq!(discarded["edited"], false);
}

#[sqlx::test(migrations = false)]
async fn a_wrong_rule_is_refused_by_its_place_and_nothing_changes(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([word("a", "a")])).await;
    let path = format!("/rule-groups/{group}/draft");
    let before = member.draft(&group).await;
    let regex = |pattern: &str| json!({ "name": "r", "type": "regex", "pattern": pattern, "effect": "review" });
    let same = "01980f6d-13aa-7bbb-8ccc-0123456789ab";
    let identified = |word_: &str| {
        let mut rule = word("same", word_);
        rule["id"] = same.into();
        rule
    };
    for (rules, at_fault) in [
        (json!([word("a", "a"), regex("ab(")]), "rules[1].pattern"),
        (json!([word("a", "")]), "rules[0].keywords[0]"),
        (json!([word("", "a")]), "rules[0].name"),
        (
            json!([regex("a"), { "name": "x", "type": "magic" }]),
            "rules[1].type",
        ),
        (
            json!([{ "name": "x", "type": "ai_threshold", "category": "hate" }]),
            "rules[0].review_at",
        ),
        (json!([identified("a"), identified("b")]), "rules[1].id"),
        (json!({}), "rules"),
    ] {
        let change = json!({ "rules": rules, "revision": before["revision"] });
        let refused = member.put(&path, change).await;
        refused.blames("invalid_request", &[at_fault]);
        let new = json!({ "name": "new", "rules": rules });
        let refused = member.post("/rule-groups", new).await;
        refused.blames("invalid_request", &[at_fault]);
        let test = json!({ "text": "a", "rules": rules });
        let refused = member
            .post(&format!("/rule-groups/{group}/test"), test)
            .await;
        refused.blames("invalid_request", &[at_fault]);
    }
    let change = json!({ "rules": [regex("ab(")], "revision": before["revision"] });
    let problem = member
        .put(&path, change)
        .await
        .problem(400, "invalid_request");
    assert_eq!(problem["errors"][0]["position"], 2, "{problem}");
    assert_eq!(member.draft(&group).await, before);
    let groups = member.get("/rule-groups").await.ok();
    assert_eq!(groups["data"].as_array().unwrap().len(), 2);
}

#[sqlx::test(migrations = false)]
async fn versions_are_compared_by_the_ids_of_their_rules(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let rules = json!([word("a", "a"), word("b", "b"), word("c", "c")]);
    let group = member.new_group("House", rules).await;
    let path = format!("/rule-groups/{group}");
    let before = member.draft(&group).await["rules"].clone();
    let one = member.get(&path).await.ok()["live_version_id"].clone();
    let mut changed = before[0].clone();
    changed["keywords"] = json!(["a", "x"]);
    let after = member
        .edit(&group, json!([before[2], changed, word("d", "d")]))
        .await["rules"]
        .clone();

    let expected = json!({
        "added": [after[2]],
        "removed": [before[1]],
        "changed": [{ "from": before[0], "to": changed }],
        "moved": [before[2]["id"]],
    });
    let difference = member.get(&format!("{path}/diff")).await.ok();
    assert_answers("GET", "/rule-groups/{rule_group_id}/diff", &difference);
    assert_eq!(difference["added"], expected["added"]);
    assert_eq!(difference, expected);
    member.make_version(&group, true).await;
    let since = format!("{path}/diff?from_version_id={}", one.as_str().unwrap());
    assert_eq!(member.get(&since).await.ok(), expected);
    let nothing = member.get(&format!("{path}/diff")).await.ok();
    assert!(
        nothing
            .as_object()
            .unwrap()
            .values()
            .all(|list| *list == json!([]))
    );
    for name in ["from_version_id", "to_version_id"] {
        let nobodys = format!("{path}/diff?{name}={}", uuid::Uuid::now_v7());
        let refused = member.get(&nobodys).await;
        refused.blames("invalid_request", &[name]);
    }
}

#[sqlx::test(migrations = false)]
async fn a_group_is_deleted_only_where_it_judges_for_no_site_and_its_verdicts_keep_its_versions(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    let path = format!("/rule-groups/{group}");
    let named = app
        .submit(json!({ "body": "a", "rule_group_id": group }))
        .await;
    let media = named.ok()["id"].as_str().unwrap().to_owned();
    let site = format!("/sites/{}", app.tenant.site);
    let default = member.get(&site).await.ok()["default_rule_group_id"].clone();
    let refused = member
        .delete(&format!("/rule-groups/{}", default.as_str().unwrap()))
        .await;
    refused.problem(409, "rule_group_in_use");
    let attachment = format!("{site}/rule-groups/{group}");
    member.put(&attachment, json!(null)).await.done();
    member.delete(&path).await.problem(409, "rule_group_in_use");
    member.delete(&attachment).await.done();
    member.delete(&path).await.done();

    for gone in [
        member.get(&path).await,
        member.delete(&path).await,
        member.get(&format!("{path}/draft")).await,
        member.put(&attachment, json!(null)).await,
    ] {
        gone.problem(404, "not_found");
    }
    let refused = app
        .submit(json!({ "body": "a", "rule_group_id": group }))
        .await;
    refused.blames("unknown_rule_group", &["rule_group_id"]);
    let default_too = json!({ "default_rule_group_id": group });
    let refused = member.patch(&site, default_too).await;
    refused.blames("unknown_rule_group", &["default_rule_group_id"]);
    let item = member.get(&format!("/media/{media}")).await.ok();
    assert_eq!(item["rule_group_versions"][0]["rule_group_id"], group);
    // The name is free again.
    member.new_group("House", json!([])).await;
}

#[sqlx::test(migrations = false)]
async fn a_group_that_is_being_attached_is_not_deleted_meanwhile(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    // As attaching does, until its commit.
    let mut attaching = app.pool.begin().await.unwrap();
    sqlx::query("insert into site_rule_groups (site_id, rule_group_id) values ($1, $2::uuid)")
        .bind(app.tenant.site.as_uuid())
        .bind(&group)
        .execute(&mut *attaching)
        .await
        .unwrap();
    let path = format!("/rule-groups/{group}");
    let (deleted, ()) = tokio::join!(member.delete(&path), async {
        app.until_waiting(1).await;
        attaching.commit().await.unwrap();
    });
    deleted.problem(409, "rule_group_in_use");
    member.get(&path).await.ok();
}

#[sqlx::test(migrations = false)]
async fn all_attached_groups_judge_together_and_the_default_one_when_none_is(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let site = format!("/sites/{}", app.tenant.site);
    let judges = "select cardinality(group_versions)::bigint from media order by id desc limit 1";
    let (one, other) = (
        member.new_group("One", json!([word("a", "a")])).await,
        member.new_group("Other", json!([word("b", "b")])).await,
    );
    for group in [&other, &one, &one] {
        let attachment = format!("{site}/rule-groups/{group}");
        member.put(&attachment, json!(null)).await.done();
    }
    let list = member.get(&format!("{site}/rule-groups")).await.ok();
    assert_answers("GET", "/sites/{site_id}/rule-groups", &list);
    let names: Vec<_> = list["data"].as_array().unwrap().iter().collect();
    assert_eq!(
        (&names[0]["name"], &names[1]["name"]),
        (&json!("One"), &json!("Other"))
    );
    assert_eq!(list["next_cursor"], Value::Null);
    app.submitted("a text").await;
    assert_eq!(app.count(judges).await, 2);
    for group in [&one, &other, &other] {
        let attachment = format!("{site}/rule-groups/{group}");
        member.delete(&attachment).await.done();
    }
    app.submitted("a text").await;
    assert_eq!(app.count(judges).await, 1);
    let changes = "select count(*) from audit_log where action = 'site.update'";
    assert_eq!(app.count(changes).await, 4);

    let fill = "insert into rule_groups (id, team_id, name, live_version_id)
                select gen_random_uuid(), team_id, 'filler ' || n, live_version_id
                from rule_groups, generate_series(1, 50) n where name = 'One'";
    sqlx::query(fill).execute(&app.pool).await.unwrap();
    sqlx::query(
        "insert into site_rule_groups select $1, id from rule_groups where name like 'filler%'",
    )
    .bind(app.tenant.site.as_uuid())
    .execute(&app.pool)
    .await
    .unwrap();
    let refused = member
        .put(&format!("{site}/rule-groups/{one}"), json!(null))
        .await;
    refused.problem(400, "invalid_request");
}

#[sqlx::test(migrations = false)]
async fn ten_thousand_keywords_are_compiled_while_others_are_served(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let words: Vec<String> = (0..10_000).map(|n| format!("blocked{n:05}word")).collect();
    let rule = json!({ "name": "many", "type": "keyword", "keywords": words, "effect": "reject" });
    let new = |n: u8| json!({ "name": format!("Many {n}"), "rules": [rule] });
    let others = async {
        for _ in 0..20 {
            app.post_keyed(SUBMIT, json!({ "body": "a text" }))
                .await
                .ok();
        }
    };
    let (a, b, c, ()) = tokio::join!(
        member.post("/rule-groups", new(1)),
        member.post("/rule-groups", new(2)),
        member.post("/rule-groups", new(3)),
        others
    );
    for made in [a, b, c] {
        made.created();
    }
}
