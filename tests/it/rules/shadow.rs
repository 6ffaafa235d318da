//! A version in the shadow of the live one.

use domain::rules::Rule;
use reqwest::Method;
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::{SOON, default_group, start, word};
use crate::support::{DataDir, eventually, text};

#[sqlx::test(migrations = false)]
async fn a_shadow_changes_no_verdict_whatever_becomes_of_it_and_tells_where_it_differs(
    pool: PgPool,
) {
    let data = DataDir::new();
    let (up, management) = start(&pool, &data).await;
    let group = default_group(&pool).await;
    management
        .version(&group, json!([word("live", "liveword")]), true)
        .await;
    let shadow = management
        .version(&group, json!([word("shadow", "shadowword")]), false)
        .await;
    let path = format!("/rule-groups/{group}/shadow-version");
    let wanted = json!({ "version_id": shadow });
    management.ask(Method::PUT, &path, wanted).await;

    let status_of = async |text: &str| {
        let media = up.submit(json!({ "body": text })).await;
        (up.verdict(&media).await["status"].clone(), media)
    };
    let mut differing = Vec::new();
    for (text, expected, differs) in [
        ("nothing", "approved", false),
        ("liveword and shadowword", "rejected", false),
        ("shadowword", "approved", true),
        ("liveword", "rejected", true),
    ] {
        let (status, media) = status_of(text).await;
        assert_eq!(status, expected, "{text}");
        if differs {
            differing.push(media);
        }
    }
    let report = format!("/rule-groups/{group}/versions/{shadow}/shadow-report");
    let report = eventually("everything is counted", SOON, async || {
        let report = management.get(&report).await;
        (report["judged"] == 4).then_some(report)
    })
    .await;
    assert_eq!(report["differing"], 2, "{report}");
    let path_of = format!("/rule-groups/{group}/versions/{shadow}/shadow-differences");
    let listed = management.get(&path_of).await;
    let listed: Vec<_> = listed["data"].as_array().unwrap().iter().collect();
    let ids: Vec<String> = listed.iter().rev().map(|d| text(d, "media_id")).collect();
    assert_eq!(ids, differing);

    // A shadow that cannot be compiled. A change of the engine can cause this.
    let broken = management.version(&group, json!([]), false).await;
    let rule = json!([{ "id": Uuid::nil(), "name": "r", "type": "regex", "pattern": "(", "effect": "reject" }]);
    serde_json::from_value::<Vec<Rule>>(rule.clone()).unwrap();
    sqlx::query("update rule_group_versions set rules = $2 where id = $1::uuid")
        .bind(&broken)
        .bind(sqlx::types::Json(rule))
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("update rule_groups set shadow_version_id = $1::uuid where id = $2::uuid")
        .bind(&broken)
        .bind(&group)
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(status_of("liveword").await.0, "rejected");
    assert_eq!(status_of("nothing").await.0, "approved");
}
