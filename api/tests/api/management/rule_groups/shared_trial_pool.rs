//! The bench is shared by teams: heavy rules of one delay no other.

use futures::future::join_all;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;

use super::word;
use crate::app::{App, Tenant};

/// Rules that keep the bench busy for as long as a group may, and are refused then.
fn heavy() -> Value {
    let rule = json!({ "name": "letters", "type": "regex", "pattern": "spam\\w{190}", "effect": "reject" });
    json!(vec![rule; 60])
}

#[sqlx::test(migrations = false)]
async fn case_37_a_team_that_keeps_the_bench_busy_delays_no_other_teams_rules(pool: PgPool) {
    let app = App::start(pool).await;
    let greedy = app.member(app.tenant.team).await;
    let other = Tenant::create(&app.pool, "other").await;
    let victim = app.member(other.team).await;
    let stop = CancellationToken::new();
    let posting = (0..16).map(|number| {
        let (greedy, stop) = (&greedy, stop.clone());
        async move {
            while !stop.is_cancelled() {
                let group = json!({ "name": format!("heavy {number}"), "rules": heavy() });
                let answer = greedy.post("/rule-groups", group).await;
                // Refused, or it was not this request's turn in time: that is the team's own doing.
                assert!([400, 503].contains(&answer.status), "{answer:?}");
            }
        }
    });
    let editing = async {
        for number in 0..3 {
            let name = format!("trivial {number}");
            let group = json!({ "name": name, "rules": [word("one", "one")] });
            victim.post("/rule-groups", group).await.created();
        }
        stop.cancel();
    };
    tokio::join!(join_all(posting), editing);
}

#[sqlx::test(migrations = false)]
async fn case_36_a_group_that_is_too_heavy_is_refused_with_its_heaviest_rules(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let group = member.new_group("House", json!([])).await;
    let draft = member.draft(&group).await;
    let change = json!({ "rules": heavy(), "revision": draft["revision"] });
    let path = format!("/rule-groups/{group}");
    let refused = member.put(&format!("{path}/draft"), change).await;
    let problem = refused.problem(400, "invalid_request");
    let message = problem["errors"][0]["message"].as_str().unwrap();
    for part in ["more than 64 MiB", "`letters` (", "ASCII classes"] {
        assert!(message.contains(part), "{message}");
    }

    // A version of an older release, which took it, is not published again and does not judge in the shadow.
    let version = member.spare_version(&group).await;
    let rules = heavy().as_array().unwrap().clone();
    let rules: Vec<Value> = rules
        .into_iter()
        .map(|mut rule| {
            rule["id"] = uuid::Uuid::now_v7().to_string().into();
            rule
        })
        .collect();
    sqlx::query("update rule_group_versions set rules = $1 where id = $2::text::uuid")
        .bind(sqlx::types::Json(rules))
        .bind(&version)
        .execute(&app.pool)
        .await
        .unwrap();
    let wanted = json!({ "version_id": version });
    for place in ["live-version", "shadow-version"] {
        let refused = member.put(&format!("{path}/{place}"), wanted.clone()).await;
        refused.problem(400, "invalid_request");
    }
}
