//! A backtest whose workers are killed.

use reqwest::Method;
use serde_json::json;
use sqlx::PgPool;
use store::backtest::slice::SLICE;
use uuid::Uuid;

use super::{LONG, Management, default_group, word};
use crate::support::{Api, Worker, admin, eventually, gatehouse, new_site, text};

/// Stores decided items. Every second one contains the word, and a person rejected every tenth of
/// these.
async fn fill(pool: &PgPool, site: &str, group: &str, items: usize) {
    let ids: Vec<Uuid> = (0..items).map(|_| Uuid::now_v7()).collect();
    sqlx::query(
        "insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
         select i.id, s.team_id, s.id, 'approved', 'text',
             case when i.n % 2 = 0 then 'a blockedword' else 'a text' end,
             array[g.live_version_id], 1
         from unnest($1::uuid []) with ordinality as i (id, n), sites s, rule_groups g
         where s.id = $2::uuid and g.id = $3::uuid",
    )
    .bind(&ids)
    .bind(site)
    .bind(group)
    .execute(pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select id, 1, 'approved', 'pending', 'rule', '{}'::json, '{}'::json from unnest($1::uuid []) as id
         union all
         select id, 2, 'rejected', 'approved', 'manual', '{}', '{}'
         from unnest($1::uuid []) with ordinality as i (id, n) where n % 20 = 0",
    )
    .bind(&ids)
    .execute(pool)
    .await
    .unwrap();
}

/// Nothing is stored of a backtest that has looked at more items than `allowed` says.
async fn hold_back(pool: &PgPool) {
    sqlx::raw_sql(
        "create table allowed (items bigint not null);
         insert into allowed values (0);
         create function hold_back() returns trigger language plpgsql as $$
         begin
             while new.looked_at > (select items from allowed) loop
                 perform pg_sleep(0.02);
             end loop;
             return new;
         end $$;
         create trigger hold_back before update on backtests for each row execute function hold_back()",
    )
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_backtest_whose_workers_are_killed_counts_every_item_once(pool: PgPool) {
    const ITEMS: usize = 10_000;
    let site = new_site(&pool);
    let group = default_group(&pool).await;
    fill(&pool, &site.id, &group, ITEMS).await;
    let team: Uuid = sqlx::query_scalar("select id from teams")
        .fetch_one(&pool)
        .await
        .unwrap();
    let team = team.to_string();
    let token = admin(
        &pool,
        &[
            "create-token",
            "--name",
            "t",
            "--team",
            &team,
            "--scopes",
            "all",
        ],
    );
    let api = Api::start(&pool).await;
    let management = Management {
        base: api.base_url.replace("/functions/", "/management/"),
        token: text(&token, "management_token"),
    };
    let path = format!("/rule-groups/{group}");
    let draft = management.get(&format!("{path}/draft")).await;
    let change = json!({ "rules": [word("w", "blockedword")], "revision": draft["revision"] });
    management
        .ask(Method::PUT, &format!("{path}/draft"), change)
        .await;
    let wanted = json!({ "limit": 100_000 });
    let started = management
        .ask(Method::POST, &format!("{path}/backtests"), wanted)
        .await;
    assert_eq!(started["total"], ITEMS);
    let own = format!("/backtests/{}", text(&started, "id"));

    hold_back(&pool).await;
    // Three workers are killed while they store a slice that is held back, and a fourth one goes on to the end.
    for items in [2_000_i64, 4_000, 6_000, 100_000] {
        sqlx::query("update allowed set items = $1")
            .bind(items)
            .execute(&pool)
            .await
            .unwrap();
        let mut command = gatehouse(&pool);
        command.env("GATEHOUSE_LEASE_SECONDS", "1");
        let worker = Worker::launch(command).await;
        // From the database: the interface answers 600 requests a minute.
        eventually("the replay goes on", LONG, async || {
            let standing = sqlx::query_as("select looked_at, state from backtests");
            let (looked_at, state): (i64, String) = standing.fetch_one(&pool).await.unwrap();
            (looked_at > items - SLICE || state != "running").then_some(())
        })
        .await;
        worker.kill();
    }
    let report = management.get(&own).await;
    assert_eq!(report["state"], "finished", "{report}");
    assert_eq!(
        [&report["looked_at"], &report["judged"], &report["changed"]],
        [ITEMS, ITEMS, ITEMS / 2],
        "{report}"
    );
    let count = |new: &str, decided: &str, items: usize| json!({ "old_status": "approved", "new_status": new, "decided": decided, "items": items });
    assert_eq!(
        report["counts"],
        json!([
            count("approved", "nobody", ITEMS / 2),
            count("rejected", "nobody", ITEMS / 2 - ITEMS / 20),
            count("rejected", "rejected", ITEMS / 20),
        ])
    );
    let after = &report["agreement_after"][0];
    assert_eq!(
        (&after["kind"], &after["precision"], &after["recall"]),
        (&json!("rejected"), &json!(1.0), &json!(1.0))
    );
    assert_eq!(report["agreement_before"][0]["recall"], 0.0);
    let listed = "select count(*) from backtest_changes";
    let listed: i64 = sqlx::query_scalar(listed).fetch_one(&pool).await.unwrap();
    assert_eq!(usize::try_from(listed).unwrap(), ITEMS / 2);
}
