//! The previous version of the binary runs beside this one, on one database that has this one's schema. `scripts/test-versions`
//! builds that version and names its program in `GATEHOUSE_PREVIOUS`.

use std::{env, process::Command, time::Duration};

use reqwest::{Client, Method};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{Api, Site, Worker, eventually, gatehouse, http, text};

const VERDICT: Duration = Duration::from_secs(30);

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    Previous,
    This,
}

impl Version {
    /// Its program, told of this database.
    fn program(self, pool: &PgPool) -> Command {
        let this = gatehouse(pool);
        if self == Self::This {
            return this;
        }
        let program = env::var_os("GATEHOUSE_PREVIOUS")
            .expect("scripts/test-versions says where the previous version is");
        let mut previous = Command::new(program);
        for (name, value) in this.get_envs() {
            match value {
                Some(value) => previous.env(name, value),
                None => previous.env_remove(name),
            };
        }
        previous
    }

    fn run(self, pool: &PgPool, arguments: &[&str]) -> Vec<u8> {
        let output = self.program(pool).args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{self:?} {arguments:?}: {output:?}"
        );
        output.stdout
    }

    fn admin(self, pool: &PgPool, arguments: &[&str]) -> Value {
        let output = self.run(pool, &[&["admin", "--json"], arguments].concat());
        serde_json::from_slice(&output).unwrap()
    }

    fn token(self, pool: &PgPool, name: &str) -> String {
        let create = ["create-token", "--name", name, "--scopes", "all"];
        text(&self.admin(pool, &create), "management_token")
    }

    /// Makes a team with a site.
    fn site(self, pool: &PgPool, name: &str) -> (String, Site) {
        let team = text(
            &self.admin(pool, &["create-team", "--name", name]),
            "team_id",
        );
        let site = self.admin(pool, &["create-site", "--team", &team, "--name", name]);
        let id = text(&site, "site_id");
        let key = self.admin(pool, &["create-key", "--site", &id]);
        let site = Site {
            key: text(&key, "site_key"),
            webhook_secret: text(&site, "webhook_secret"),
            id,
        };
        (team, site)
    }
}

/// The management interface of one version, with somebody's token.
struct Interface<'a> {
    http: Client,
    base: String,
    token: &'a str,
}

impl Interface<'_> {
    async fn send(&self, method: Method, path: &str, media_type: &str, body: String) -> Value {
        let request = self.http.request(method, format!("{}{path}", self.base));
        let request = request.header("Content-Type", media_type);
        let answer = request.bearer_auth(self.token).body(body).send();
        let answer = answer.await.unwrap();
        let status = answer.status();
        let body: Value = answer.json().await.unwrap_or_default();
        assert!(status.is_success(), "{path}: {status} {body}");
        body
    }

    async fn ask(&self, method: Method, path: &str, body: Value) -> Value {
        let body = body.to_string();
        self.send(method, path, "application/json", body).await
    }

    /// Makes one of everything that names who made it.
    async fn make_everything(&self, api: &Api, team: &str, site: &Site, name: &str) {
        let post = async |path: &str, body: Value| self.ask(Method::POST, path, body).await;
        let rule =
            json!({ "name": "n", "type": "keyword", "keywords": ["maybe"], "effect": "review" });
        let group = json!({ "name": name, "team_id": team, "rules": [rule] });
        let group = text(&post("/rule-groups", group).await, "id");
        let draft = format!("/rule-groups/{group}/draft");
        let now = self.ask(Method::GET, &draft, Value::Null).await;
        let change = json!({ "rules": [rule, rule], "revision": now["revision"] });
        let draft = self.ask(Method::PUT, &draft, change).await;
        let version = json!({ "revision": draft["revision"] });
        post(&format!("/rule-groups/{group}/versions"), version).await;

        let fields = json!({ "api_key": site.key, "body": "maybe", "rule_group_id": group });
        let (status, submitted) = api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{submitted}");
        let media = format!("/media/{}", text(&submitted, "mediaId"));
        eventually("a verdict", VERDICT, async || {
            let item = self.ask(Method::GET, &media, Value::Null).await;
            (item["status"] == "pending_review").then_some(())
        })
        .await;
        let decided = post(
            &format!("{media}/decision"),
            json!({ "decision": "approve" }),
        )
        .await;
        assert_eq!(decided["status"], "approved");

        let backtest = json!({ "since": "2026-01-01T00:00:00Z" });
        post(&format!("/rule-groups/{group}/backtests"), backtest).await;
        let endpoint = json!({ "url": "https://example.com/" });
        let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
        let endpoint = text(&post(&endpoints, endpoint).await, "id");
        let hour = chrono::Utc::now() - chrono::TimeDelta::hours(1);
        let recovery = json!({ "kind": "failed", "since": hour.to_rfc3339() });
        post(
            &format!("/webhook-endpoints/{endpoint}/recoveries"),
            recovery,
        )
        .await;
        let list = json!({ "name": name, "kind": "deny", "team_id": team });
        let list = format!(
            "/hash-lists/{}",
            text(&post("/hash-lists", list).await, "id")
        );
        let hashes = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
        let imports = format!("{list}/imports?algorithm=sha256");
        self.send(Method::POST, &imports, "text/plain", hashes.into())
            .await;
        post(&format!("{list}/scans"), json!({})).await;

        let child = json!({ "name": name, "team_id": team, "scopes": ["media:read"] });
        let child = text(&post("/tokens", child).await, "id");
        let children = format!("/tokens/{child}");
        self.ask(Method::DELETE, &children, Value::Null).await;
    }
}

#[sqlx::test(migrations = false)]
#[ignore = "needs the previous version: make test-versions"]
async fn the_previous_version_works_beside_this_one_on_this_ones_schema(pool: PgPool) {
    use Version::{Previous, This};

    // What was there before this version came.
    Previous.run(&pool, &["migrate"]);
    let (team, site) = Previous.site(&pool, "first");
    let first = Previous.token(&pool, "before this version came");
    let apis = [Api::launch(Previous.program(&pool), &[]).await, {
        This.run(&pool, &["migrate"]);
        Api::launch(This.program(&pool), &[]).await
    }];
    let _workers = [
        Worker::launch(Previous.program(&pool)).await,
        Worker::launch(This.program(&pool)).await,
    ];

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
