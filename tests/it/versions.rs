//! The previous version of the binary runs beside this one, on one database with this version's
//! schema. `scripts/test-versions` builds the previous version and names its program in
//! `GATEHOUSE_PREVIOUS`.

mod interface;
mod version;

use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Api, SOON, Worker, eventually, http};
use interface::Interface;
use version::Version;

#[sqlx::test(migrations = false)]
#[ignore = "needs the previous version: make test-versions"]
async fn the_previous_version_works_beside_this_one_on_this_ones_schema(pool: PgPool) {
    use Version::{Previous, This};

    // The state before this version came.
    Previous.run(&pool, &["migrate"]);
    let (team, site) = Previous.site(&pool, "first");
    let first = Previous.token(&pool, "before this version came");
    let apis = [Api::launch(Previous.program(&pool), &[]).await, {
        This.run(&pool, &["migrate"]);
        Api::launch(This.program(&pool), &[]).await
    }];
    let workers = [
        Worker::launch(Previous.program(&pool)).await,
        Worker::launch(This.program(&pool)).await,
    ];
    // Nobody answers at the endpoints, so their deliveries wait for the next attempt.
    for worker in &workers {
        worker.leaves_jobs();
    }

    let (second_team, second_site) = Previous.site(&pool, "second");
    let (third_team, third_site) = This.site(&pool, "third");
    let tokens = [
        first,
        Previous.token(&pool, "by the previous version"),
        This.token(&pool, "by this version"),
    ];
    let tenants = [
        (team, site),
        (second_team, second_site),
        (third_team, third_site),
    ];
    for (token, (team, site)) in tokens.iter().zip(&tenants) {
        for (version, api) in [Previous, This].into_iter().zip(&apis) {
            let interface = Interface {
                http: http(),
                base: api.base_url.replace("/functions/", "/management/"),
                token,
            };
            let name = format!("{version:?}");
            interface.make_everything(api, team, site, &name).await;
        }
    }

    let strangers = sqlx::query_scalar::<_, i64>(
        "
        select count(*)
        from (
            select created_by as actor_id, 'rule_group_versions' as place from rule_group_versions
            union all select published_by, 'rule_group_publications' from rule_group_publications
            union all select created_by, 'backtests' from backtests
            union all select created_by, 'hash_lists' from hash_lists
            union all select created_by, 'hash_imports' from hash_imports
            union all select created_by, 'hash_scans' from hash_scans
            union all select created_by, 'webhook_recoveries' from webhook_recoveries
            union all select created_by, 'management_tokens' from management_tokens
            union all select actor_id, 'audit_log' from audit_log
        ) named
        where actor_id is not null and actor_id not in (select id from actors where kind = 'token')
        ",
    );
    assert_eq!(strangers.fetch_one(&pool).await.unwrap(), 0);
    let told = "select count(distinct place) from (
            select created_by as actor_id, 'versions' as place from rule_group_versions
            union all select published_by, 'publications' from rule_group_publications
            union all select created_by, 'backtests' from backtests
            union all select created_by, 'lists' from hash_lists
            union all select created_by, 'imports' from hash_imports
            union all select created_by, 'scans' from hash_scans
            union all select created_by, 'recoveries' from webhook_recoveries
            union all select created_by, 'tokens' from management_tokens
        ) named where actor_id is not null";
    let told: i64 = sqlx::query_scalar(told).fetch_one(&pool).await.unwrap();
    assert_eq!(told, 8, "each of them was made with a token");
    let actors = "select (select count(*) from actors) - (select count(*) from management_tokens)";
    let beyond: i64 = sqlx::query_scalar(actors).fetch_one(&pool).await.unwrap();
    assert_eq!(beyond, 0, "every token is an actor, and nobody else is");
    let dead: i64 = sqlx::query_scalar("select count(*) from queue.dead_jobs")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(dead, 0, "{}", pool.connect_options().to_url_lossy());
}

/// Items that wait for a person, and their reviews on the desk.
async fn waiting(pool: &PgPool) -> (i64, i64) {
    let both = "select (select count(*) from reviews), (select count(*) from review_tasks)";
    sqlx::query_as(both).fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = false)]
#[ignore = "needs the previous version: make test-versions"]
async fn the_previous_version_feeds_the_desk_and_its_decisions_end_reviews(pool: PgPool) {
    use Version::{Previous, This};

    Previous.run(&pool, &["migrate"]);
    let (team, site) = Previous.site(&pool, "first");
    let token = Previous.token(&pool, "moderator");
    let api = Api::launch(Previous.program(&pool), &[]).await;
    let worker = Worker::launch(Previous.program(&pool)).await;
    worker.leaves_jobs();
    let base = api.base_url.replace("/functions/", "/management/");
    let post = async |path: &str, body: Value| {
        let request = http().post(format!("{base}{path}")).json(&body);
        let answer = request.bearer_auth(&token).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
        answer.json::<Value>().await.unwrap()
    };
    let rule = json!({ "name": "n", "type": "keyword", "keywords": ["maybe"], "effect": "review" });
    let group = json!({ "name": "doubt", "team_id": team, "rules": [rule] });
    let group = post("/rule-groups", group).await["id"].clone();
    let submit = async |text: &str| {
        let fields = json!({ "api_key": site.key, "body": text, "rule_group_id": group });
        let (status, submitted) = api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{submitted}");
        submitted["id"].as_str().unwrap().to_owned()
    };
    let reviews = async || {
        let waits = "select count(*) from reviews";
        sqlx::query_scalar::<_, i64>(waits)
            .fetch_one(&pool)
            .await
            .unwrap()
    };
    submit("maybe, before this version came").await;
    eventually("the first one waits", SOON, async || {
        (reviews().await == 1).then_some(())
    })
    .await;
    This.run(&pool, &["migrate"]);
    assert_eq!(waiting(&pool).await, (1, 1));
    let media = submit("maybe, beside this version").await;
    eventually("the second one waits", SOON, async || {
        (reviews().await == 2).then_some(())
    })
    .await;
    assert_eq!(waiting(&pool).await, (2, 2));

    let decision = json!({ "decision": "approve", "reason": "It is fine." });
    post(&format!("/media/{media}/decision"), decision).await;
    assert_eq!(waiting(&pool).await, (1, 1));
}
