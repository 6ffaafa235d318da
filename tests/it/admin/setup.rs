//! Plans, teams and tokens.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{made, text};
use crate::support::{Api, run};

#[sqlx::test(migrations = false)]
async fn an_operator_sets_up_plans_teams_and_tokens_and_every_step_is_recorded(pool: PgPool) {
    run(&pool, &["migrate"]);
    let plan = [
        "create-plan",
        "--name",
        "Small",
        "--submissions-per-period",
        "1",
    ];
    let plan = made(&pool, &plan);
    let plan = text(&plan, "plan_id");
    let team = made(&pool, &["create-team", "--name", "first", "--plan", plan]);
    let team = text(&team, "team_id");
    let other = made(&pool, &["create-team", "--name", "second"]);
    let subscribed = made(
        &pool,
        &[
            "subscribe",
            "--team",
            text(&other, "team_id"),
            "--plan",
            plan,
            "--state",
            "past_due",
        ],
    );
    assert_eq!(subscribed["state"], "past_due");
    let operator = made(
        &pool,
        &["create-token", "--name", "operator", "--scopes", "all"],
    );
    let scopes = "teams:read,audit:read";
    let member = [
        "create-token",
        "--name",
        "member",
        "--team",
        team,
        "--scopes",
        scopes,
    ];
    let member = made(&pool, &member);

    let api = Api::start(&pool).await;
    let base = api.base_url.replace("/functions/v1", "/management/v1");
    let get = async |made: &Value, path: &str| -> Value {
        let request = api.http.get(format!("{base}{path}"));
        let answer = request
            .bearer_auth(text(made, "management_token"))
            .send()
            .await
            .unwrap();
        answer.json().await.unwrap()
    };
    let subscription = get(&operator, &format!("/teams/{team}/subscription")).await;
    assert_eq!(
        (&subscription["plan_id"], &subscription["state"]),
        (&json!(plan), &json!("active"))
    );
    let log = get(&operator, "/audit-log").await;
    let told: Vec<_> = log["data"]
        .as_array()
        .unwrap()
        .iter()
        .rev()
        .map(|entry| {
            (
                text(entry, "action"),
                text(entry, "actor"),
                entry["request_id"].is_null(),
            )
        })
        .collect();
    let expected = [
        "plan.create",
        "team.create",
        "team.create",
        "subscription.update",
        "token.create",
        "token.create",
    ];
    assert_eq!(told, expected.map(|action| (action, "command_line", true)));
    assert!(!log.to_string().contains("mgmt_"));

    let teams = get(&member, "/teams").await;
    assert_eq!(teams["data"].as_array().unwrap().len(), 1);
    assert_eq!(
        get(&member, "/audit-log").await["data"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(get(&member, "/plans").await["code"], "missing_scope");
}
