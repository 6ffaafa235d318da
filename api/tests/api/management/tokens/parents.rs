//! What a token leaves to those that it creates, and what it may do to others. Each name begins with the number of its case in
//! `docs/reliability.md`.

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::{app::App, client::Answer, management::Caller};

const END: &str = "2099-01-01T00:00:00.000000Z";

/// A token that this one creates, and somebody who has it.
async fn child<'a>(app: &'a App, parent: &Caller<'_>, more: Value) -> (Value, Caller<'a>) {
    let answer = create(parent, more).await;
    let issued = answer.created();
    let holder = app.caller_with(issued["secret"].as_str().unwrap());
    (issued, holder)
}

async fn create(parent: &Caller<'_>, more: Value) -> Answer {
    let mut new = json!({ "name": "a", "scopes": ["tokens:read", "tokens:write"] });
    new.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    parent.post("/tokens", new).await
}

fn path(token: &Value) -> String {
    format!("/tokens/{}", token["id"].as_str().unwrap())
}

async fn works(holder: &Caller<'_>) -> bool {
    holder.get("/tokens").await.status == 200
}

#[sqlx::test(migrations = false)]
async fn case_42_a_token_expires_no_later_than_the_one_that_created_it(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let (_, parent) = child(&app, &operator, json!({ "expires_at": END })).await;
    for (wanted, given) in [
        (json!({}), END),
        (json!({ "expires_at": null }), END),
        (json!({ "expires_at": END }), END),
        (
            json!({ "expires_at": "2098-01-01T00:00:00Z" }),
            "2098-01-01T00:00:00.000000Z",
        ),
    ] {
        let (issued, heir) = child(&app, &parent, wanted).await;
        assert_eq!(issued["expires_at"], given);
        // Nor does a token that it creates.
        let (issued, _) = child(&app, &heir, json!({})).await;
        assert_eq!(issued["expires_at"], given);
    }
    let refused = create(
        &parent,
        json!({ "expires_at": "2099-01-01T00:00:00.000001Z" }),
    )
    .await;
    refused.blames("invalid_request", &["expires_at"]);
    let message = refused.json()["errors"][0]["message"].clone();
    assert!(message.as_str().unwrap().contains(END), "{message}");
    // One that never expires gives what it likes.
    for expiry in [json!(null), json!(END)] {
        let (issued, _) = child(&app, &operator, json!({ "expires_at": expiry })).await;
        assert_eq!(issued["expires_at"], expiry);
    }
}

#[sqlx::test(migrations = false)]
async fn case_42_a_token_tells_who_created_it(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let own = operator
        .get(&format!("/tokens/{}", operator.id().await))
        .await
        .ok();
    assert_eq!(
        (&own["creator"], &own["created_by"]),
        (&json!("command_line"), &Value::Null)
    );
    let (issued, _) = child(&app, &operator, json!({})).await;
    assert_eq!(
        (&issued["creator"], &issued["created_by"]),
        (&json!("token"), &own["id"])
    );

    let listed = operator
        .get(&format!("/tokens?created_by={}", operator.id().await))
        .await
        .ok();
    let ids: Vec<&Value> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|token| &token["id"])
        .collect();
    assert_eq!(ids, [&issued["id"]]);

    // As an older version creates it, beside this one.
    sqlx::raw_sql(
        "insert into management_tokens (id, team_id, name, hash, hint, scopes, expires_at)
         values ('01980f6d-02aa-7bbb-8ccc-0123456789ab', null, 'old', 'hash', 'hint', '{}', null)",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    let old = operator
        .get("/tokens/01980f6d-02aa-7bbb-8ccc-0123456789ab")
        .await
        .ok();
    assert_eq!(
        (&old["creator"], &old["created_by"]),
        (&Value::Null, &Value::Null)
    );
}

#[sqlx::test(migrations = false)]
async fn case_42_disabling_takes_those_below_along_when_asked_to(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let (top, parent) = child(&app, &operator, json!({})).await;
    let (middle, between) = child(&app, &parent, json!({})).await;
    let (bottom, grandchild) = child(&app, &between, json!({})).await;
    let (beside, other) = child(&app, &operator, json!({})).await;

    operator.delete(&path(&middle)).await.done();
    operator.delete(&path(&middle)).await.done();
    assert!(!works(&between).await && works(&grandchild).await && works(&parent).await);
    operator
        .delete(&format!("{}?cascade=perhaps", path(&top)))
        .await
        .blames("invalid_request", &["cascade"]);

    let entries = app.count("select count(*) from audit_log").await;
    operator
        .delete(&format!("{}?cascade=true", path(&top)))
        .await
        .done();
    assert!(!works(&parent).await && !works(&grandchild).await && works(&other).await);
    assert_eq!(
        operator.get(&path(&beside)).await.ok()["disabled_at"],
        Value::Null
    );
    assert_eq!(
        app.count("select count(*) from audit_log").await,
        entries + 2
    );
    for (token, with) in [(&top, Value::Null), (&bottom, top["id"].clone())] {
        let id = token["id"].as_str().unwrap();
        let log = operator
            .get(&format!("/audit-log?target_id={id}"))
            .await
            .ok();
        let entry = &log["data"][0];
        assert_eq!(
            (&entry["action"], &entry["details"]["with"]),
            (&json!("token.disable"), &with)
        );
    }
    // Once more there is nothing to do, and what was left below a disabled token can still be taken.
    operator
        .delete(&format!("{}?cascade=true", path(&top)))
        .await
        .done();
    assert_eq!(
        app.count("select count(*) from audit_log").await,
        entries + 2
    );
}

#[sqlx::test(migrations = false)]
async fn case_42_a_token_that_is_being_created_is_disabled_with_those_above_it(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let (top, parent) = child(&app, &operator, json!({})).await;
    let (middle, _) = child(&app, &parent, json!({})).await;

    // What a request does that has not committed yet: its token is shared, the new one is there.
    let mut creating = app.pool.begin().await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(format!(
        "select from management_tokens where id = '{0}' for share;
         insert into management_tokens (id, name, hash, hint, scopes, creator, created_by, generation)
         values ('01980f6d-02aa-7bbb-8ccc-0123456789ab', 'late', 'hash', 'hint', '{{}}', 'token', '{0}', 3)",
        middle["id"].as_str().unwrap()
    )))
    .execute(&mut *creating)
    .await
    .unwrap();
    let cascade = format!("{}?cascade=true", path(&top));
    let (answer, ()) = tokio::join!(operator.delete(&cascade), async {
        app.until_waiting(1).await;
        creating.commit().await.unwrap();
    });
    answer.done();
    let valid = "select count(*) from management_tokens where disabled_at is null";
    assert_eq!(app.count(valid).await, 1, "the operator's own");
}

#[sqlx::test(migrations = false)]
async fn case_42_a_token_disables_none_that_may_do_more_than_itself(pool: PgPool) {
    let app = App::start(pool).await;
    let team = Some(app.tenant.team);
    let weak = app.caller(team, &[Scope::TokensWrite]).await;
    let strong = app
        .caller(team, &[Scope::TokensRead, Scope::TokensWrite])
        .await;
    let strongest = app.member(app.tenant.team).await;
    // An operator reaches further, but may do less.
    for caller in [&weak, &app.caller(None, &[Scope::TokensWrite]).await] {
        for cascade in ["", "?cascade=true"] {
            let target = format!("/tokens/{}{cascade}", strong.id().await);
            let problem = caller.delete(&target).await.problem(403, "missing_scope");
            assert!(
                problem["detail"].as_str().unwrap().contains("tokens:read"),
                "{problem}"
            );
        }
    }
    assert!(works(&strong).await);
    assert_eq!(app.count("select count(*) from audit_log").await, 0);
    // A scope that only a newer version knows is a scope, too.
    sqlx::raw_sql("update management_tokens set scopes = scopes || '{sites:paint}' where cardinality(scopes) = 2")
        .execute(&app.pool)
        .await
        .unwrap();
    strongest
        .delete(&format!("/tokens/{}", strong.id().await))
        .await
        .problem(403, "missing_scope");

    // Itself, its like, and what may do less.
    let peer = app.caller(team, &[Scope::TokensWrite]).await;
    weak.delete(&format!("/tokens/{}", peer.id().await))
        .await
        .done();
    let ending = format!("/tokens/{}", strong.id().await);
    strong.delete(&ending).await.done();
    weak.delete(&format!("/tokens/{}", weak.id().await))
        .await
        .done();
    assert!(!works(&strong).await);
}

#[sqlx::test(migrations = false)]
async fn case_42_tokens_are_created_a_hundred_deep_at_most(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let (_, parent) = child(&app, &operator, json!({})).await;
    sqlx::raw_sql("update management_tokens set generation = 99 where created_by is not null")
        .execute(&app.pool)
        .await
        .unwrap();
    let (_, last) = child(&app, &parent, json!({})).await;
    let problem = create(&last, json!({})).await.problem(409, "limit_reached");
    assert!(
        problem["detail"].as_str().unwrap().contains("create-token"),
        "{problem}"
    );
}
