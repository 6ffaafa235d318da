//! The previous version of the binary runs beside this one, on one database with this version's
//! schema. `scripts/test-versions` builds the previous version and names its program in
//! `GATEHOUSE_PREVIOUS`.

mod interface;
mod version;

use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Api, Worker, http};
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
