//! The command line refuses what the interface refuses, in the same words, and makes only what the
//! interface accepts.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{Faces, count};
use crate::support::{Site, admin, new_site, run, text};

/// A file of rules that name this hash list.
fn rules_naming(list: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let yaml = format!(
        "name: Known images\nrules:\n- {{name: Known, type: image_hash, lists: [{list}], effect: reject}}\n"
    );
    std::fs::write(file.path(), yaml).unwrap();
    file
}

fn team_of(pool: &PgPool, site: &Site) -> impl Future<Output = String> {
    let (pool, site) = (pool.clone(), site.id.clone());
    async move {
        sqlx::query_scalar("select team_id::text from sites where id = $1::uuid")
            .bind(site)
            .fetch_one(&pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn both_faces_refuse_the_same_endpoints_in_the_same_words(pool: PgPool) {
    let site = new_site(&pool);
    let faces = Faces::open(&pool).await;
    let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
    let create = ["create-endpoint", "--site", &site.id, "--url"];

    let port_22 = "https://example.com:22/";
    let told = faces.refused(&endpoints, json!({ "url": port_22 })).await;
    let said = faces.refused_command(&[&create[..], &[port_22]].concat());
    assert!(said.contains(&told), "{told}\n{said}");

    // The plan allows 10, whichever face creates them.
    let url = "https://example.com/";
    for _ in 0..5 {
        faces.made(&endpoints, json!({ "url": url })).await;
        admin(&pool, &[&create[..], &[url]].concat());
    }
    let told = faces.refused(&endpoints, json!({ "url": url })).await;
    let said = faces.refused_command(&[&create[..], &[url]].concat());
    assert!(
        told.contains("allows 10 webhook endpoints") && said.contains(&told),
        "{told}\n{said}"
    );
    let there = "select count(*) from webhook_endpoints";
    assert_eq!(count(&pool, there).await, 10);
}

#[sqlx::test(migrations = false)]
async fn both_faces_refuse_rules_that_name_hash_lists_which_the_team_cannot_use(pool: PgPool) {
    let site = new_site(&pool);
    let team = team_of(&pool, &site).await;
    let other = text(
        &admin(&pool, &["create-team", "--name", "other"]),
        "team_id",
    );
    let faces = Faces::open(&pool).await;
    let foreign = json!({ "name": "theirs", "kind": "deny", "team_id": other });
    let foreign = text(&faces.made("/hash-lists", foreign).await, "id");
    let group: String = sqlx::query_scalar("select default_rule_group_id::text from sites")
        .fetch_one(&pool)
        .await
        .unwrap();

    for list in [foreign.as_str(), "01980f6d-00aa-7bbb-8ccc-0123456789ab"] {
        let rule =
            json!({ "name": "Known", "type": "image_hash", "lists": [list], "effect": "reject" });
        let new = json!({ "name": "Known images", "team_id": team, "rules": [rule] });
        let told = faces.refused("/rule-groups", new).await;
        let file = rules_naming(list);
        let path = file.path().to_str().unwrap();
        for arguments in [
            &["load-rules", "--team", &team, path][..],
            &["load-rules", "--team", &team, "--publish-to", &group, path],
            &[
                "create-site",
                "--team",
                &team,
                "--name",
                "b",
                "--rules",
                path,
            ],
        ] {
            let said = faces.refused_command(arguments);
            assert!(said.contains(&told), "{arguments:?}: {told}\n{said}");
        }
    }
    let stored = "select (select count(*) from rule_group_versions) + (select count(*) from sites)";
    assert_eq!(
        count(&pool, stored).await,
        2,
        "the site and its group's first version"
    );
}

#[sqlx::test(migrations = false)]
async fn a_command_that_is_refused_half_way_leaves_nothing(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    sqlx::query("update plans set sites_per_team = 1")
        .execute(&pool)
        .await
        .unwrap();
    admin(&pool, &["create-site", "--team", &team, "--name", "a"]);
    let faces = Faces::open(&pool).await;
    let before = faces.entries().await;
    let said = faces.refused_command(&["create-site", "--team", &team, "--name", "b"]);
    assert!(said.contains("allows 1 sites"), "{said}");
    assert_eq!(faces.entries().await, before);
    assert_eq!(count(&pool, "select count(*) from rule_groups").await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_site_with_the_longest_name_has_a_group_whose_name_the_interface_takes(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    let name = "é".repeat(100);
    let site = admin(&pool, &["create-site", "--team", &team, "--name", &name]);
    let faces = Faces::open(&pool).await;
    let path = format!("/rule-groups/{}", text(&site, "rule_group_id"));
    let (_, group) = faces.ask(Method::GET, &path, &Value::Null).await;
    let again = json!({ "name": group["name"] });
    let (status, renamed) = faces.ask(Method::PATCH, &path, &again).await;
    assert_eq!(status, 200, "{renamed}");
}
