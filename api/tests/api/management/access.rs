//! Who may do what: tokens, scopes, operators and teams.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::document::{Operation, operations};
use crate::{
    app::{App, SUBMIT, Tenant},
    client::Answer,
};

const NOBODY: &str = "mgmt_00000000000000000000000000000000";

/// What an answer tells, but for the name of its request.
fn told(answer: &Answer, status: u16, code: &str) -> Value {
    let mut problem = answer.problem(status, code);
    problem["request_id"].take();
    problem
}

/// The body of a request that the token with this one scope may make, as far as the scope goes.
fn body_within(operation: &Operation, scope: Scope) -> String {
    match operation.request.clone() {
        Some(mut body) if body.get("scopes").is_some() => {
            body["scopes"] = json!([scope]);
            body.to_string()
        }
        Some(_) | None => operation.body(),
    }
}

#[sqlx::test(migrations = false)]
async fn whatever_is_no_valid_token_is_told_the_same_everywhere(pool: PgPool) {
    let app = App::start(pool).await;
    let disabled = app.operator().await;
    let expired = app.operator().await;
    for (caller, change) in [
        (
            &disabled,
            "update management_tokens set disabled_at = now() where hint = $1",
        ),
        (
            &expired,
            "update management_tokens set expires_at = now() where hint = $1",
        ),
    ] {
        sqlx::query(change)
            .bind(caller.hint())
            .execute(&app.pool)
            .await
            .unwrap();
    }
    let bearer = |token: &str| Some(format!("Bearer {token}"));
    let headers = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some(NOBODY.to_owned()),
        Some(format!("Basic {NOBODY}")),
        bearer("mgmt_"),
        bearer("mgmt_\u{fc}"),
        bearer(&app.tenant.key),
        bearer(NOBODY),
        bearer(&disabled.token),
        bearer(&expired.token),
    ];
    let mut answers = Vec::new();
    for operation in operations() {
        let path = format!(
            "/management/v1{}",
            operation.path(&Uuid::now_v7().to_string())
        );
        for header in &headers {
            let mut given = vec![("Content-Type", operation.content_type.as_str())];
            given.extend(header.as_deref().map(|header| ("Authorization", header)));
            let answer = app
                .request(&operation.method, &path, &given, operation.body())
                .await;
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            answers.push(told(&answer, 401, "invalid_token"));
        }
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:#?}"
    );
}

#[sqlx::test(migrations = false)]
async fn every_operation_asks_for_its_documented_scope_and_for_no_other(pool: PgPool) {
    let app = App::start(pool).await;
    for operation in operations() {
        let path = operation.path(&Uuid::now_v7().to_string());
        let Some(scope) = operation.scope else {
            let nobody = app.caller(None, &[]).await;
            let answer = nobody.perform(&operation, &path, "").await;
            assert_eq!(answer.status, 200, "{path} {answer:?}");
            continue;
        };
        let others: Vec<Scope> = Scope::ALL.iter().copied().filter(|s| *s != scope).collect();
        let without = app.caller(None, &others).await;
        let answer = without.perform(&operation, &path, &operation.body()).await;
        let problem = answer.problem(403, "missing_scope");
        assert!(
            problem["detail"].as_str().unwrap().contains(scope.as_str()),
            "{problem}"
        );

        let with = app.caller(None, &[scope]).await;
        let body = body_within(&operation, scope);
        let answer = with.perform(&operation, &path, &body).await;
        assert!(!matches!(answer.status, 401 | 403), "{path} {answer:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_for_operators_only_is_refused_to_teams_whatever_their_scopes(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let ours = app.tenant.team.to_string();
    let mut refused = Vec::new();
    for operation in operations() {
        let answer = member
            .perform(&operation, &operation.path(&ours), &operation.body())
            .await;
        if operation.operators_only {
            answer.problem(403, "operators_only");
            refused.push(format!("{} {}", operation.method, operation.template));
        } else {
            assert_ne!(answer.status, 403, "{answer:?}");
        }
    }
    assert_eq!(
        refused,
        [
            "POST /teams",
            "POST /plans",
            "PATCH /plans/{plan_id}",
            "PUT /teams/{team_id}/subscription",
            "GET /queues",
            "GET /queues/{queue}",
            "PATCH /queues/{queue}",
            "GET /queues/{queue}/groups/{group_id}",
            "PATCH /queues/{queue}/groups/{group_id}",
            "GET /queues/{queue}/lanes/{lane_id}",
            "PATCH /queues/{queue}/lanes/{lane_id}",
            "GET /dead-jobs",
            "GET /dead-jobs/summary",
            "POST /dead-jobs/replay",
        ]
    );
    assert_eq!(app.count("select count(*) from teams").await, 1);
    assert_eq!(app.count("select count(*) from plans").await, 1);
}

#[sqlx::test(migrations = false)]
async fn what_belongs_to_others_is_as_unknown_as_nothing(pool: PgPool) {
    let app = App::start(pool).await;
    let tenant = Tenant::create(&app.pool, "other").await;
    let other = tenant.team;
    let theirs = app.caller(Some(other), &[Scope::TeamsRead]).await;
    let operators = app.caller(None, &[Scope::TeamsRead]).await;
    let custom = app
        .operator()
        .await
        .post("/plans", json!({ "name": "Theirs" }))
        .await
        .created();
    sqlx::query("update subscriptions set plan_id = $2 where team_id = $1")
        .bind(other.as_uuid())
        .bind(custom["id"].as_str().unwrap().parse::<Uuid>().unwrap())
        .execute(&app.pool)
        .await
        .unwrap();
    let member = app.member(app.tenant.team).await;
    let submission = json!({ "api_key": tenant.key, "content_base64": "R0lGODlhYWJj" });
    let media = app.post(SUBMIT, &submission).await.ok()["id"].clone();

    let group: Uuid = sqlx::query_scalar("select default_rule_group_id from sites where id = $1")
        .bind(tenant.site.as_uuid())
        .fetch_one(&app.pool)
        .await
        .unwrap();

    let lists = app.member(other).await;
    let list = json!({ "name": "Theirs", "kind": "deny" });
    let list = lists.post("/hash-lists", list).await.created()["id"].clone();
    let list = list.as_str().unwrap();
    app.leaves(store::jobs::HASH_IMPORTS);
    app.leaves(store::jobs::HASH_SCANS);
    let imports = format!("/hash-lists/{list}/imports");
    let import = lists.send_as("text/plain", "POST", &imports, "x").await;
    let import = import.json()["id"].as_str().unwrap().to_owned();
    let scan = lists
        .post(&format!("/hash-lists/{list}/scans"), json!({}))
        .await;
    let scan = scan.json()["id"].as_str().unwrap().to_owned();

    let endpoint = json!({ "url": "https://example.com/hook" });
    let endpoints = format!("/sites/{}/webhook-endpoints", tenant.site);
    let endpoint = lists.post(&endpoints, endpoint).await.created()["id"].clone();
    let submission = json!({ "api_key": tenant.key, "body": "a text" });
    app.post(SUBMIT, &submission).await.ok();
    let delivery: Uuid = sqlx::query_scalar("select id from deliveries")
        .fetch_one(&app.pool)
        .await
        .unwrap();

    app.flag(media.as_str().unwrap(), &[], &[]).await;
    let review: Uuid = sqlx::query_scalar("select id from review_tasks")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    let policy = json!({ "code": "spam", "name": "Spam", "reason": "Spam." });
    let policy = lists.post("/policies", policy).await.created();
    let policy = policy["id"].as_str().unwrap().to_owned();
    app.leaves(store::jobs::BULK_DECISIONS);
    app.leaves(store::jobs::ERASURES);
    let bulk = json!({ "decision": "approve", "review_ids": [review] });
    let bulk = lists.post("/reviews/bulk", bulk).await;
    let bulk = bulk.json()["id"].as_str().unwrap().to_owned();
    let erasure = lists.post("/erasures", json!({ "author": "nobody" })).await;
    let erasure = erasure.json()["id"].as_str().unwrap().to_owned();
    app.leaves(store::jobs::CLOSURES);
    let closure = json!({ "site_id": tenant.site, "name": "other" });
    let closure = lists.post("/closures", closure).await;
    let closure = closure.json()["id"].as_str().unwrap().to_owned();
    let foreign = [
        ("{erasure_id}", erasure),
        ("{closure_id}", closure),
        ("{endpoint_id}", endpoint.as_str().unwrap().to_owned()),
        ("{delivery_id}", delivery.to_string()),
        ("{hash_list_id}", list.to_owned()),
        ("{hash_import_id}", import),
        ("{hash_scan_id}", scan),
        ("{team_id}", other.to_string()),
        ("{site_id}", tenant.site.to_string()),
        ("{rule_group_id}", group.to_string()),
        ("{media_id}", media.as_str().unwrap().to_owned()),
        ("{token_id}", theirs.id().await),
        ("{token_id}", operators.id().await),
        ("{plan_id}", custom["id"].as_str().unwrap().to_owned()),
        ("{review_id}", review.to_string()),
        ("{policy_id}", policy),
        ("{bulk_decision_id}", bulk),
    ];
    let mut tried = 0;
    for operation in operations()
        .iter()
        .filter(|operation| !operation.operators_only)
    {
        for (_, id) in foreign
            .iter()
            .filter(|(p, _)| operation.template.contains(p))
        {
            let mut answers = Vec::new();
            for id in [id, &Uuid::now_v7().to_string()] {
                let (path, body) = (operation.path(id), operation.body());
                let answer = member.perform(operation, &path, &body).await;
                answers.push(told(&answer, 404, "not_found"));
            }
            assert_eq!(answers[0], answers[1]);
            tried += 1;
        }
    }
    assert_eq!(tried, 110);
    // And nothing was done to it.
    assert_eq!(
        theirs.get("/teams").await.ok()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    operators.get("/teams").await.ok();
    let lists: String = [
        member.get("/teams").await.body,
        member.get("/plans").await.body,
        member.get("/tokens").await.body,
        member.get("/audit-log").await.body,
        member.get("/sites").await.body,
        member.get("/rule-groups").await.body,
        member.get("/media").await.body,
        member.get("/hash-lists").await.body,
    ]
    .concat();
    for (_, id) in &foreign {
        assert!(!lists.contains(id), "{id}");
    }
}

#[sqlx::test(migrations = false)]
async fn an_id_that_is_none_is_not_found_and_another_method_is_not_allowed(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let all = operations();
    for operation in all
        .iter()
        .filter(|operation| operation.template.contains('{'))
    {
        for id in ["x", "%00", "00000000-0000-0000-0000-00000000000g"] {
            operator
                .perform(operation, &operation.path(id), &operation.body())
                .await
                .problem(404, "not_found");
        }
    }
    for operation in &all {
        let path = operation.path(&Uuid::now_v7().to_string());
        let mut allowed: Vec<&str> = all
            .iter()
            .filter(|other| other.template == operation.template)
            .map(|other| other.method.as_str())
            .collect();
        if allowed.contains(&"GET") {
            allowed.push("HEAD");
        }
        allowed.sort_unstable();
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"] {
            if !allowed.contains(&method) {
                let answer = operator.send(method, &path, "{}").await;
                answer.problem(405, "method_not_allowed");
                assert_eq!(answer.header("allow"), Some(allowed.join(", ").as_str()));
            }
        }
    }
    operator.get("/nothing").await.problem(404, "not_found");
    operator.get("").await.problem(404, "not_found");
}

#[sqlx::test(migrations = false)]
async fn nothing_is_changed_in_the_name_of_a_token_after_it_was_disabled(pool: PgPool) {
    let app = App::start(pool).await;
    let team = format!("/teams/{}", app.tenant.team);
    let member = app.member(app.tenant.team).await;
    let operator = app.operator().await;
    let token = format!("/tokens/{}", member.id().await);

    // The change is under way: it waits for a row.
    let mut held = app.pool.begin().await.unwrap();
    sqlx::query("select from teams for update")
        .execute(&mut *held)
        .await
        .unwrap();
    let renaming = async { member.patch(&team, json!({ "name": "renamed" })).await.ok() };
    let disabling = async {
        app.until_waiting(1).await;
        operator.delete(&token).await.done();
        app.count("select count(*) from teams where name = 'renamed'")
            .await
    };
    let releasing = async {
        app.until_waiting(2).await;
        held.rollback().await.unwrap();
    };
    let everything = async { tokio::join!(renaming, disabling, releasing) };
    let (_, renamed_when_disabled, ()) =
        tokio::time::timeout(std::time::Duration::from_mins(1), everything)
            .await
            .expect("the one who disables waits for the change");
    assert_eq!(renamed_when_disabled, 1);
    member.get(&team).await.problem(401, "invalid_token");
}
