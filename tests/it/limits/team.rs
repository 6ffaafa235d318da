//! Limits of a whole team.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{MEDIA, accepted, count, in_one_minute, replicas, submit, submit_each};
use crate::support::{admin, gatehouse, new_site, text};

#[sqlx::test(migrations = false)]
async fn case_38_all_keys_of_a_team_through_three_replicas_have_one_limit(pool: PgPool) {
    let site = new_site(&pool);
    let mut keys = vec![site.key];
    for _ in 0..4 {
        let key = admin(&pool, &["create-key", "--site", &site.id]);
        keys.push(text(&key, "site_key"));
    }
    let plan = store::plan::UNLIMITED.to_string();
    let limit = [
        "change-plan",
        "--plan",
        &plan,
        "--team-submissions-per-minute",
        "1200",
    ];
    admin(&pool, &limit);
    let replicas = replicas(&pool).await;
    let bodies: Vec<Value> = keys
        .iter()
        .map(|key| json!({ "api_key": key, "body": "text" }))
        .collect();
    in_one_minute(&pool, async || {
        let before = count(&pool, MEDIA).await;
        // Now one of them holds shares that it does not need.
        let mut answers = submit_each(&replicas, 1, &bodies, None).await;
        answers.extend(submit_each(&replicas, 1_500, &bodies, None).await);
        let stored = count(&pool, MEDIA).await - before;
        move || {
            assert_eq!((accepted(&answers), stored), (1_200, 1_200));
            for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
                assert_eq!((*status, &problem["code"]), (429, &json!("rate_limited")));
                let detail = problem["detail"].as_str().unwrap();
                assert!(detail.starts_with("The team's 1200 requests"), "{detail}");
            }
        }
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_38_two_hundred_at_once_with_twenty_deliveries_left_accept_ten(pool: PgPool) {
    let site = new_site(&pool);
    let url = "https://example.com/";
    let endpoint = ["create-endpoint", "--site", &site.id, "--url", url];
    admin(&pool, &endpoint);
    let replicas = replicas(&pool).await;
    let body = json!({ "api_key": site.key, "body": "text" });
    assert_eq!(
        accepted(&submit(&replicas, 15, body.clone(), None).await),
        15
    );
    let plan = store::plan::UNLIMITED.to_string();
    // Thirty are used. The rest is too small for another submission.
    let limit = [
        "change-plan",
        "--plan",
        &plan,
        "--deliveries-per-period",
        "51",
    ];
    admin(&pool, &limit);
    let answers = submit(&replicas, 200, body, None).await;
    assert_eq!(accepted(&answers), 10);
    for (status, problem) in answers.iter().filter(|(status, _)| *status != 200) {
        assert_eq!((*status, &problem["code"]), (403, &json!("quota_exceeded")));
        assert!(problem["detail"].as_str().unwrap().contains("deliveries"));
    }
    assert_eq!(count(&pool, MEDIA).await, 25);
    assert_eq!(count(&pool, "select deliveries from usage").await, 50);
}

#[sqlx::test(migrations = false)]
async fn case_38_the_command_line_obeys_the_plans_limits(pool: PgPool) {
    let site = new_site(&pool);
    let plan = store::plan::UNLIMITED.to_string();
    let endpoint = [
        "create-endpoint",
        "--site",
        &site.id,
        "--url",
        "https://example.com/",
    ];
    for _ in 0..10 {
        admin(&pool, &endpoint);
    }
    let mut command = gatehouse(&pool);
    let command = command.arg("admin").args(endpoint);
    let refused = command
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && told.contains("allows 10 webhook endpoints"),
        "{told}"
    );
    let changed = [
        "change-plan",
        "--plan",
        &plan,
        "--endpoints-per-site",
        "11",
        "--name",
        "Large",
    ];
    let changed = admin(&pool, &changed);
    assert_eq!(
        (&changed["name"], &changed["endpoints_per_site"]),
        (&json!("Large"), &json!(11))
    );
    assert_eq!(changed["submissions_per_period"], Value::Null);
    admin(&pool, &endpoint);
    let recorded = "select count(*) from audit_log where action = 'plan.update'";
    assert_eq!(count(&pool, recorded).await, 1);
}
