//! What a plan lets a team have: endpoints, sites, keys, tokens, rule groups, hash lists.

use serde_json::{Value, json};
use sqlx::PgPool;
use store::plan::UNLIMITED;

use super::Caller;
use crate::{app::App, client::Answer};

/// Things of which a team can create as many as its plan allows.
#[derive(Clone, Copy, Debug)]
enum Thing {
    Endpoint,
    Site,
    Key,
    Token,
    RuleGroup,
    ImportedGroup,
    HashList,
}

use Thing::{Endpoint, HashList, ImportedGroup, Key, RuleGroup, Site, Token};

/// Each with how many the tests' team has, and how many a plan allows unless it says otherwise.
const THINGS: [(Thing, i64, i64); 7] = [
    (Endpoint, 0, 10),
    (Site, 1, 100),
    (Key, 1, 200),
    (Token, 0, 100),
    (RuleGroup, 1, 200),
    (ImportedGroup, 1, 200),
    (HashList, 0, 100),
];

impl Thing {
    /// The member of the plan.
    fn limit(self) -> &'static str {
        match self {
            Endpoint => "endpoints_per_site",
            Site => "sites_per_team",
            Key => "site_keys_per_team",
            Token => "management_tokens_per_team",
            RuleGroup | ImportedGroup => "rule_groups_per_team",
            HashList => "hash_lists_per_team",
        }
    }

    async fn create(self, caller: &Caller<'_>, app: &App, n: usize) -> Answer {
        let (team, site) = (app.tenant.team, app.tenant.site);
        let name = format!("{self:?} {n}");
        match self {
            Endpoint => {
                let new = json!({ "url": "https://example.com/" });
                let path = format!("/sites/{site}/webhook-endpoints");
                caller.post(&path, new).await
            }
            Site => {
                let group: uuid::Uuid =
                    sqlx::query_scalar("select default_rule_group_id from sites where id = $1")
                        .bind(site.as_uuid())
                        .fetch_one(&app.pool)
                        .await
                        .unwrap();
                let new = json!({ "name": name, "team_id": team, "default_rule_group_id": group });
                caller.post("/sites", new).await
            }
            Key => caller.post(&format!("/sites/{site}/keys"), json!({})).await,
            Token => {
                let new = json!({ "name": name, "team_id": team, "scopes": ["teams:read"] });
                caller.post("/tokens", new).await
            }
            RuleGroup => {
                let new = json!({ "name": name, "team_id": team, "rules": [] });
                caller.post("/rule-groups", new).await
            }
            ImportedGroup => {
                let path = format!("/rule-groups/import?team_id={team}");
                let file = json!({ "name": name, "rules": [] });
                caller.post(&path, file).await
            }
            HashList => {
                let new = json!({ "name": name, "team_id": team, "kind": "deny" });
                caller.post("/hash-lists", new).await
            }
        }
    }
}

/// How many of these answers are successes; the others must name the limit.
fn created(answers: &[Answer], thing: Thing, limit: i64) -> i64 {
    let mut created = 0;
    for answer in answers {
        if answer.status == 201 {
            created += 1;
            continue;
        }
        let problem = answer.problem(409, "limit_reached");
        let detail = problem["detail"].as_str().unwrap();
        let told = [thing.limit().to_owned(), format!("allows {limit} ")];
        assert!(told.iter().all(|part| detail.contains(part)), "{detail}");
    }
    created
}

async fn set(app: &App, member: &str, value: i64) {
    let operator = app.operator().await;
    let plan = format!("/plans/{UNLIMITED}");
    operator.patch(&plan, json!({ member: value })).await.ok();
}

#[sqlx::test(migrations = false)]
async fn case_38_three_hundred_of_each_are_refused_at_the_limits_of_the_plan(pool: PgPool) {
    let app = App::start(pool).await;
    for (thing, there, limit) in THINGS {
        if matches!(thing, ImportedGroup) {
            continue;
        }
        let operator = app.operator().await;
        let mut answers = Vec::new();
        for batch in 0..12 {
            let creating = (0..25).map(|n| thing.create(&operator, &app, 25 * batch + n));
            answers.extend(futures::future::join_all(creating).await);
        }
        assert_eq!(created(&answers, thing, limit), limit - there, "{thing:?}");
    }
    // What is at its limit can still be used.
    app.submitted("text").await;
}

#[sqlx::test(migrations = false)]
async fn case_38_fifty_at_once_with_five_left_create_exactly_five(pool: PgPool) {
    let app = App::start(pool).await;
    let other = App::beside(&app).await;
    for (thing, there, _) in THINGS {
        // Groups are created in two ways, one after the other.
        let there = there + if matches!(thing, ImportedGroup) { 5 } else { 0 };
        set(&app, thing.limit(), there + 5).await;
        let (here, there_too) = (app.operator().await, other.operator().await);
        let creating = (0..50).map(|n| {
            let (caller, through) = if n % 2 == 0 {
                (&here, &app)
            } else {
                (&there_too, &other)
            };
            thing.create(caller, through, n)
        });
        let answers = futures::future::join_all(creating).await;
        assert_eq!(created(&answers, thing, there + 5), 5, "{thing:?}");
    }
}

#[sqlx::test(migrations = false)]
async fn what_is_beyond_a_lowered_limit_stays_and_a_leaked_key_is_still_replaced(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for n in 0..3 {
        for thing in [Endpoint, Key, RuleGroup] {
            thing.create(&operator, &app, n).await.created();
        }
    }
    for thing in [Endpoint, Key, RuleGroup] {
        set(&app, thing.limit(), 2).await;
        let refused = thing.create(&operator, &app, 9).await;
        refused.problem(409, "limit_reached");
    }
    let site = app.tenant.site;
    let endpoints = format!("/sites/{site}/webhook-endpoints");
    let listed = operator.get(&endpoints).await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 3);
    app.submitted("text").await;
    // Deleting makes room only once there is less than the limit; disabling an endpoint makes none.
    let ids: Vec<Value> = (0..3).map(|n| listed["data"][n]["id"].clone()).collect();
    let path = |id: &Value| format!("/webhook-endpoints/{}", id.as_str().unwrap());
    operator.delete(&path(&ids[0])).await.done();
    let disable = format!("{}/disable", path(&ids[1]));
    let why = json!({ "reason": "moved" });
    operator.post(&disable, why).await.ok();
    let refused = Endpoint.create(&operator, &app, 9).await;
    refused.problem(409, "limit_reached");
    operator.delete(&path(&ids[1])).await.done();
    Endpoint.create(&operator, &app, 9).await.created();
    // All four keys become one.
    let rotate = format!("/sites/{site}/keys/rotate");
    operator.post(&rotate, json!({})).await.created();
    Key.create(&operator, &app, 9).await.created();
    let refused = Key.create(&operator, &app, 9).await;
    refused.problem(409, "limit_reached");
    operator.post(&rotate, json!({})).await.created();
    // Without a key to replace, a new one is one more.
    set(&app, Key.limit(), 0).await;
    operator.post(&rotate, json!({})).await.created();
    sqlx::query("update site_keys set disabled_at = now()")
        .execute(&app.pool)
        .await
        .unwrap();
    let refused = operator.post(&rotate, json!({})).await;
    refused.problem(409, "limit_reached");
}

#[sqlx::test(migrations = false)]
async fn what_was_disabled_deleted_or_has_expired_does_not_count(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for (thing, there) in [(Token, 0), (Key, 1), (RuleGroup, 1)] {
        set(&app, thing.limit(), there + 1).await;
        for n in 0..3 {
            let new = thing.create(&operator, &app, n).await.created();
            let refused = thing.create(&operator, &app, 9).await;
            refused.problem(409, "limit_reached");
            let id = new["id"].as_str().unwrap();
            let path = match thing {
                Token => format!("/tokens/{id}"),
                Key => format!("/sites/{}/keys/{id}", app.tenant.site),
                RuleGroup => format!("/rule-groups/{id}"),
                Endpoint | Site | ImportedGroup | HashList => unreachable!(),
            };
            operator.delete(&path).await.done();
        }
    }
    Token.create(&operator, &app, 1).await.created();
    sqlx::query("update management_tokens set expires_at = now() where team_id is not null")
        .execute(&app.pool)
        .await
        .unwrap();
    Token.create(&operator, &app, 2).await.created();
}

#[sqlx::test(migrations = false)]
async fn a_team_without_a_subscription_has_the_usual_limits_and_operators_have_none(pool: PgPool) {
    let app = App::start(pool).await;
    set(&app, "management_tokens_per_team", 0).await;
    set(&app, "endpoints_per_site", 0).await;
    let operator = app.operator().await;
    for _ in 0..3 {
        let new = json!({ "name": "a", "scopes": ["teams:read"] });
        operator.post("/tokens", new).await.created();
    }
    for thing in [Token, Endpoint] {
        let refused = thing.create(&operator, &app, 1).await;
        refused.problem(409, "limit_reached");
    }
    sqlx::query("delete from subscriptions")
        .execute(&app.pool)
        .await
        .unwrap();
    for thing in [Token, Endpoint] {
        thing.create(&operator, &app, 1).await.created();
    }
}
