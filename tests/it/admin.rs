//! `gatehouse admin`: from an empty database to a token that manages it.

use std::process::Stdio;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{Api, gatehouse, run};

fn made(pool: &PgPool, arguments: &[&str]) -> Value {
    let output = run(pool, &[&["admin", "--json"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

fn text<'v>(made: &'v Value, name: &str) -> &'v str {
    made[name].as_str().unwrap()
}

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

#[sqlx::test(migrations = false)]
async fn what_cannot_be_is_refused_in_one_line_and_leaves_nothing(pool: PgPool) {
    run(&pool, &["migrate"]);
    run(&pool, &["admin", "create-plan", "--name", "a"]);
    let nobody = "01980f6d-00aa-7bbb-8ccc-0123456789ab";
    for (arguments, told) in [
        (&["create-plan", "--name", "a"][..], "the name is taken"),
        (
            &["create-plan", "--name", ""],
            "must have 1 to 100 characters",
        ),
        (
            &[
                "create-plan",
                "--name",
                "b",
                "--submissions-per-minute",
                "0",
            ],
            "from 1 to 1000000",
        ),
        (
            &["create-team", "--name", "b", "--plan", nobody],
            "there is no such plan",
        ),
        (
            &["subscribe", "--team", nobody, "--plan", nobody],
            "There is no such team.",
        ),
        (
            &["create-token", "--name", "b", "--scopes", "teams:paint"],
            "[possible values: all, teams:read,",
        ),
        (
            &[
                "create-token",
                "--name",
                "b",
                "--team",
                nobody,
                "--scopes",
                "all",
            ],
            "--team: is no team",
        ),
    ] {
        let output = gatehouse(&pool)
            .arg("admin")
            .args(arguments)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && error.contains(told),
            "{arguments:?}: {error}"
        );
    }
    let left: i64 = sqlx::query_scalar(
        "select (select count(*) from teams) + (select count(*) from management_tokens)
            + (select count(*) from audit_log)",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(left, 1, "the one entry of the plan");
}

#[sqlx::test(migrations = false)]
async fn mistakes_in_a_file_of_rules_are_told_with_the_rules_names_and_places(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = made(&pool, &["create-team", "--name", "a"]);
    let told = |yaml: &str| {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), yaml).unwrap();
        let path = file.path().to_str().unwrap();
        let load = ["load-rules", "--team", text(&team, "team_id"), path];
        let output = gatehouse(&pool)
            .arg("admin")
            .args(load)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let pattern = "name: x
rules:
- {name: broken, type: regex, pattern: '(', effect: reject}
";
    let error = told(pattern);
    assert!(error.contains("rules[0].pattern (`broken`): "), "{error}");

    let several = told(
        "name: x
rules:
- {name: a, type: keyword, keywords: [x], effect: ban}
- {name: b, type: regex, pattern: '(', effect: reject}
- {name: c, type: magic}
",
    );
    for mistake in [
        "rules[0].effect (`a`): must be one of `reject`, `review` (line 3, column 51)",
        "rules[1].pattern (`b`): ",
        "(line 4, column 35)",
        "rules[2].type (`c`): must be one of `keyword`",
    ] {
        assert!(several.contains(mistake), "{mistake}: {several}");
    }
    assert!(told("name: [").contains("the file is no rule group"));
}
