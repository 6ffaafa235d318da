//! Rule groups while the service works: edited under load, tried in the shadow, replayed by workers that are killed.

use std::{collections::HashMap, time::Duration};

use domain::rules::Rule;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::support::{
    Api, DataDir, Up, Worker, admin, eventually, gatehouse, http, new_site, text,
};

const SOON: Duration = Duration::from_secs(20);
const LONG: Duration = Duration::from_mins(2);

/// The management interface, as somebody with a token sees it.
#[derive(Clone)]
struct Management {
    /// Ends with `/management/v1`.
    base: String,
    token: String,
}

impl Management {
    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let request = http().request(method, format!("{}{path}", self.base));
        let answer = request.bearer_auth(&self.token).json(&body).send().await;
        let answer = answer.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap();
        assert!(status.is_success(), "{path}: {body}");
        body
    }

    async fn get(&self, path: &str) -> Value {
        self.ask(Method::GET, path, Value::Null).await
    }

    /// Makes a version with these rules; its id.
    async fn version(&self, group: &str, rules: Value, live: bool) -> String {
        let draft = self.get(&format!("/rule-groups/{group}/draft")).await;
        let change = json!({ "rules": rules, "revision": draft["revision"] });
        let path = format!("/rule-groups/{group}/draft");
        let draft = self.ask(Method::PUT, &path, change).await;
        let new = json!({ "revision": draft["revision"], "live": live });
        let path = format!("/rule-groups/{group}/versions");
        text(&self.ask(Method::POST, &path, new).await, "id")
    }
}

async fn start(pool: &PgPool, data: &DataDir) -> (Up, Management) {
    let url = pool.connect_options().to_url_lossy().to_string();
    let up = Up::start(data, &["--database-url", &url]).await;
    let management = Management {
        base: up.demo().base_url.replace("/functions/", "/management/"),
        token: up.demo().management_token.clone(),
    };
    (up, management)
}

async fn default_group(pool: &PgPool) -> String {
    sqlx::query_scalar("select default_rule_group_id::text from sites")
        .fetch_one(pool)
        .await
        .unwrap()
}

/// A rule that rejects a word, and is called so.
fn word(name: &str, word: &str) -> Value {
    json!({ "name": name, "type": "keyword", "keywords": [word], "effect": "reject" })
}

/// What became of an item: the versions that it was accepted for, those that judged it by its trace, and the names of the
/// rules that it violated.
async fn judged(pool: &PgPool, media: &str) -> (Vec<Uuid>, Vec<Uuid>, Vec<String>) {
    let (pinned, trace, details): (Vec<Uuid>, Value, Value) = sqlx::query_as(
        "select m.group_versions, v.trace, v.details
         from media m join verdicts v on v.media_id = m.id and v.number = 1
         where m.id = $1::uuid",
    )
    .bind(media)
    .fetch_one(pool)
    .await
    .unwrap();
    let judged = trace["groups"].as_array().unwrap().iter();
    let violations = details["rule_violations"].as_array().unwrap().iter();
    (
        pinned,
        judged
            .map(|group| text(group, "version").parse().unwrap())
            .collect(),
        violations.map(|v| text(v, "rule_name")).collect(),
    )
}

#[sqlx::test(migrations = false)]
async fn a_group_edited_under_load_judges_every_item_by_exactly_one_version_and_loses_none(
    pool: PgPool,
) {
    const VERSIONS: usize = 30;
    let data = DataDir::new();
    let (up, management) = start(&pool, &data).await;
    sqlx::query("update plans set submissions_per_minute = 1000000")
        .execute(&pool)
        .await
        .unwrap();
    let group = default_group(&pool).await;
    let first = management
        .version(&group, json!([word("version 0", "blockedword")]), true)
        .await;
    let (published, latest) = tokio::sync::watch::channel(0);
    let done = CancellationToken::new();
    let publishing = async {
        let mut numbers = HashMap::from([(first, 0)]);
        for number in 1..=VERSIONS {
            let rule = word(&format!("version {number}"), "blockedword");
            let version = management.version(&group, json!([rule]), true).await;
            published.send_replace(number);
            numbers.insert(version, number);
        }
        done.cancel();
        numbers
    };
    let submitting = async {
        let mut accepted = Vec::new();
        while !done.is_cancelled() {
            let before = *latest.borrow();
            let media = up.submit(json!({ "body": "a blockedword" })).await;
            // One more may be in force that its publisher has not heard of yet.
            accepted.push((media, before, *latest.borrow() + 1));
        }
        accepted
    };
    let (numbers, a, b, c) = tokio::join!(
        publishing,
        submitting,
        submit_until(&up, &done),
        submit_until(&up, &done)
    );
    let others = b.into_iter().chain(c).map(|media| (media, 0, VERSIONS));
    let accepted: Vec<_> = a.into_iter().chain(others).collect();
    assert!(accepted.len() > VERSIONS, "{}", accepted.len());

    let mut seen = std::collections::BTreeSet::new();
    for (media, earliest, last) in &accepted {
        up.verdict(media).await;
        let (pinned, judged_by, violated) = judged(&pool, media).await;
        assert_eq!(pinned, judged_by, "{media}");
        let [version] = judged_by.as_slice() else {
            panic!("{media} was judged by {judged_by:?}");
        };
        let number = numbers[&version.to_string()];
        assert_eq!(violated, [format!("version {number}")], "{media}");
        assert!(
            (*earliest..=*last).contains(&number),
            "{media}: {number} is not from {earliest} to {last}"
        );
        seen.insert(number);
    }
    assert!(seen.len() > 2, "{seen:?}");
    let lost = "select count(*) from media where status = 'pending'";
    let lost: i64 = sqlx::query_scalar(lost).fetch_one(&pool).await.unwrap();
    assert_eq!(lost, 0);
}

async fn submit_until(up: &Up, done: &CancellationToken) -> Vec<String> {
    let mut accepted = Vec::new();
    while !done.is_cancelled() {
        accepted.push(up.submit(json!({ "body": "a blockedword" })).await);
    }
    accepted
}

#[sqlx::test(migrations = false)]
async fn a_shadow_changes_no_verdict_whatever_becomes_of_it_and_tells_where_it_differs(
    pool: PgPool,
) {
    let data = DataDir::new();
    let (up, management) = start(&pool, &data).await;
    let group = default_group(&pool).await;
    management
        .version(&group, json!([word("live", "liveword")]), true)
        .await;
    let shadow = management
        .version(&group, json!([word("shadow", "shadowword")]), false)
        .await;
    let path = format!("/rule-groups/{group}/shadow-version");
    let wanted = json!({ "version_id": shadow });
    management.ask(Method::PUT, &path, wanted).await;

    let status_of = async |text: &str| {
        let media = up.submit(json!({ "body": text })).await;
        (up.verdict(&media).await["status"].clone(), media)
    };
    let mut differing = Vec::new();
    for (text, expected, differs) in [
        ("nothing", "approved", false),
        ("liveword and shadowword", "rejected", false),
        ("shadowword", "approved", true),
        ("liveword", "rejected", true),
    ] {
        let (status, media) = status_of(text).await;
        assert_eq!(status, expected, "{text}");
        if differs {
            differing.push(media);
        }
    }
    let report = format!("/rule-groups/{group}/versions/{shadow}/shadow-report");
    let report = eventually("everything is counted", SOON, async || {
        let report = management.get(&report).await;
        (report["judged"] == 4).then_some(report)
    })
    .await;
    assert_eq!(report["differing"], 2, "{report}");
    let path_of = format!("/rule-groups/{group}/versions/{shadow}/shadow-differences");
    let listed = management.get(&path_of).await;
    let listed: Vec<_> = listed["data"].as_array().unwrap().iter().collect();
    let ids: Vec<String> = listed.iter().rev().map(|d| text(d, "media_id")).collect();
    assert_eq!(ids, differing);

    // A shadow that cannot be compiled, as after a change of the engine.
    let broken = management.version(&group, json!([]), false).await;
    let rule = json!([{ "id": Uuid::nil(), "name": "r", "type": "regex", "pattern": "(", "effect": "reject" }]);
    serde_json::from_value::<Vec<Rule>>(rule.clone()).unwrap();
    sqlx::query("update rule_group_versions set rules = $2 where id = $1::uuid")
        .bind(&broken)
        .bind(sqlx::types::Json(rule))
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("update rule_groups set shadow_version_id = $1::uuid where id = $2::uuid")
        .bind(&broken)
        .bind(&group)
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(status_of("liveword").await.0, "rejected");
    assert_eq!(status_of("nothing").await.0, "approved");
}

/// Puts decided items into the tables: every second one has the word, every tenth of these was rejected by a person.
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

    let mut kills = 0;
    let mut reached = 0;
    let report = loop {
        let mut command = gatehouse(&pool);
        command.env("GATEHOUSE_LEASE_SECONDS", "1");
        let worker = Worker::launch(command).await;
        let report = eventually("the replay goes on", LONG, async || {
            let report = management.get(&own).await;
            let looked_at = report["looked_at"].as_u64().unwrap();
            (looked_at > reached + 2_000 || report["state"] != "running").then_some(report)
        })
        .await;
        reached = report["looked_at"].as_u64().unwrap();
        // SIGKILL.
        drop(worker);
        if report["state"] != "running" {
            break report;
        }
        kills += 1;
    };
    assert!(kills > 2, "{kills}");
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
