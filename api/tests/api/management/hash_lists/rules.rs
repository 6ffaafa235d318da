//! Rules that name hash lists.

use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use crate::app::{App, Tenant};

/// A rule that looks for images of these lists.
fn known(lists: &[&str]) -> Value {
    json!({ "name": "Known", "type": "image_hash", "lists": lists, "effect": "reject" })
}

#[sqlx::test(migrations = false)]
async fn rules_name_the_lists_of_their_team_and_shared_ones_and_no_others(pool: PgPool) {
    let app = App::start(pool).await;
    let (operator, member) = (app.operator().await, app.member(app.tenant.team).await);
    let there = Tenant::create(&app.pool, "there").await;
    let theirs = app.member(there.team).await.deny("Theirs").await;
    let (own, shared) = (member.deny("Own").await, operator.deny("Shared").await);
    let group = member
        .new_group("House", json!([known(&[&own, &shared])]))
        .await;
    let nobodys = Uuid::now_v7().to_string();
    let yaml = format!(
        "name: a\nrules:\n- {{name: a, type: image_hash, lists: ['{own}', '{theirs}'], effect: reject}}\n"
    );
    let import = member
        .send_as("application/yaml", "POST", "/rule-groups/import", &yaml)
        .await;
    import.blames("invalid_request", &["rules[0].lists[1]"]);
    let draft = format!("/rule-groups/{group}/draft");
    let test = format!("/rule-groups/{group}/test");
    for list in [&theirs, &nobodys] {
        let wrong = json!([known(&[&own]), known(&[&own, list])]);
        for refused in [
            member
                .post("/rule-groups", json!({ "name": "x", "rules": wrong }))
                .await,
            member
                .put(&draft, json!({ "revision": 1, "rules": wrong }))
                .await,
            member
                .post(&test, json!({ "text": "a", "rules": wrong }))
                .await,
        ] {
            refused.blames("invalid_request", &["rules[1].lists[1]"]);
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_list_that_a_rule_names_is_not_deleted(pool: PgPool) {
    let app = App::start(pool).await;
    let (operator, member) = (app.operator().await, app.member(app.tenant.team).await);
    let (own, shared) = (member.deny("Own").await, operator.deny("Shared").await);
    let group = member
        .new_group("House", json!([known(&[&own, &shared])]))
        .await;
    let (own, shared) = (
        format!("/hash-lists/{own}"),
        format!("/hash-lists/{shared}"),
    );
    let refused = async || {
        for answer in [member.delete(&own).await, operator.delete(&shared).await] {
            let problem = answer.problem(409, "hash_list_in_use");
            assert!(
                problem["detail"].as_str().unwrap().contains(&group),
                "{problem}"
            );
        }
    };
    // Live.
    refused().await;
    let old = member.get(&format!("/rule-groups/{group}")).await.ok()["live_version_id"].clone();
    let draft = format!("/rule-groups/{group}/draft");
    let empty = json!({ "revision": 1, "rules": [] });
    let revision = member.put(&draft, empty).await.ok()["revision"].clone();
    let versions = format!("/rule-groups/{group}/versions");
    member
        .post(&versions, json!({ "revision": revision }))
        .await
        .created();
    // In the shadow.
    let shadow = format!("/rule-groups/{group}/shadow-version");
    member.put(&shadow, json!({ "version_id": old })).await.ok();
    refused().await;
    member.delete(&shadow).await.ok();
    // In the draft.
    let revision = member.get(&draft).await.ok()["revision"].clone();
    let rules = json!([known(&[&own[12..], &shared[12..]])]);
    member
        .put(&draft, json!({ "revision": revision, "rules": rules }))
        .await
        .ok();
    refused().await;
    member.delete(&draft).await.ok();

    member.delete(&own).await.done();
    operator.delete(&shared).await.done();
    // The earlier version cannot judge again.
    let live = format!("/rule-groups/{group}/live-version");
    for path in [&live, &shadow] {
        let again = member.put(path, json!({ "version_id": old })).await;
        again.blames("invalid_request", &["version_id"]);
    }
}
