//! The command line and the management interface are two faces of the same use cases: what one of them refuses or records,
//! the other one does, too.

use std::process::Stdio;

use reqwest::Method;
use serde_json::{Map, Value, json};
use sqlx::PgPool;

use crate::support::{
    Api, DataDir, Receiver, Site, Up, admin, gatehouse, http, new_site, run, text,
};

/// What the interface is asked: method, path and body.
type Request = (Method, String, Value);

/// Both faces on one database.
struct Faces {
    pool: PgPool,
    api: Api,
    token: String,
}

impl Faces {
    async fn open(pool: &PgPool) -> Self {
        let token = admin(pool, &["create-token", "--name", "t", "--scopes", "all"]);
        Self {
            pool: pool.clone(),
            api: Api::start(pool).await,
            token: text(&token, "management_token"),
        }
    }

    /// The management interface.
    async fn ask(&self, method: Method, path: &str, body: &Value) -> (u16, Value) {
        let base = self.api.base_url.replace("/functions/", "/management/");
        let request = http().request(method, format!("{base}{path}"));
        let request = request.bearer_auth(&self.token).json(body);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap_or_default())
    }

    async fn made(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.ask(Method::POST, path, &body).await;
        assert_eq!(status, 201, "{path}: {made}");
        made
    }

    /// What the interface says of the first member that it refuses.
    async fn refused(&self, path: &str, body: Value) -> String {
        let (status, problem) = self.ask(Method::POST, path, &body).await;
        assert!((400..500).contains(&status), "{path}: {status} {problem}");
        let told = problem.pointer("/errors/0/message");
        let told = told.or(problem.get("detail")).unwrap();
        told.as_str().unwrap().to_owned()
    }

    /// What the command line says.
    fn refused_command(&self, arguments: &[&str]) -> String {
        let mut command = gatehouse(&self.pool);
        command.arg("admin").args(arguments).stderr(Stdio::piped());
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// The entries that the audit log has got since it had so many, without what differs from one entry to the next.
    async fn recorded(&self, before: i64) -> Vec<(String, Value)> {
        let entries: Vec<(String, Value)> =
            sqlx::query_as("select action, details::jsonb from audit_log order by id offset $1")
                .bind(before)
                .fetch_all(&self.pool)
                .await
                .unwrap();
        let entries = entries.into_iter();
        entries
            .map(|(action, details)| (action, shape(&details)))
            .collect()
    }

    async fn entries(&self) -> i64 {
        count(&self.pool, "select count(*) from audit_log").await
    }
}

async fn count(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// The same details with other ids, times, hints, names, numbers and creators are the same.
fn shape(details: &Value) -> Value {
    match details {
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let value = match name.as_str() {
                    "hint" | "name" | "number" | "creator" | "created_by" => json!("any"),
                    _ => shape(value),
                };
                (name.clone(), value)
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.iter().map(shape).collect(),
        Value::String(text) if text.parse::<uuid::Uuid>().is_ok() => json!("an id"),
        Value::String(text) if chrono::DateTime::parse_from_rfc3339(text).is_ok() => {
            json!("a time")
        }
        other => other.clone(),
    }
}

/// A file of rules that name this hash list.
fn rules_naming(list: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let yaml = format!(
        "name: Known images\nrules:\n- {{name: Known, type: image_hash, lists: [{list}], effect: reject}}\n"
    );
    std::fs::write(file.path(), yaml).unwrap();
    file
}

fn team_of(pool: &PgPool, site: &Site) -> impl Future<Output = String> {
    let (pool, site) = (pool.clone(), site.id.clone());
    async move {
        sqlx::query_scalar("select team_id::text from sites where id = $1::uuid")
            .bind(site)
            .fetch_one(&pool)
            .await
            .unwrap()
    }
}

#[sqlx::test(migrations = false)]
async fn both_faces_refuse_the_same_endpoints_in_the_same_words(pool: PgPool) {
    let site = new_site(&pool);
    let faces = Faces::open(&pool).await;
    let endpoints = format!("/sites/{}/webhook-endpoints", site.id);
    let create = ["create-endpoint", "--site", &site.id, "--url"];

    let port_22 = "https://example.com:22/";
    let told = faces.refused(&endpoints, json!({ "url": port_22 })).await;
    let said = faces.refused_command(&[&create[..], &[port_22]].concat());
    assert!(said.contains(&told), "{told}\n{said}");

    // The plan allows 10, whichever face creates them.
    let url = "https://example.com/";
    for _ in 0..5 {
        faces.made(&endpoints, json!({ "url": url })).await;
        admin(&pool, &[&create[..], &[url]].concat());
    }
    let told = faces.refused(&endpoints, json!({ "url": url })).await;
    let said = faces.refused_command(&[&create[..], &[url]].concat());
    assert!(
        told.contains("allows 10 webhook endpoints") && said.contains(&told),
        "{told}\n{said}"
    );
    let there = "select count(*) from webhook_endpoints";
    assert_eq!(count(&pool, there).await, 10);
}

#[sqlx::test(migrations = false)]
async fn both_faces_refuse_rules_that_name_hash_lists_which_the_team_cannot_use(pool: PgPool) {
    let site = new_site(&pool);
    let team = team_of(&pool, &site).await;
    let other = text(
        &admin(&pool, &["create-team", "--name", "other"]),
        "team_id",
    );
    let faces = Faces::open(&pool).await;
    let foreign = json!({ "name": "theirs", "kind": "deny", "team_id": other });
    let foreign = text(&faces.made("/hash-lists", foreign).await, "id");
    let group: String = sqlx::query_scalar("select default_rule_group_id::text from sites")
        .fetch_one(&pool)
        .await
        .unwrap();

    for list in [foreign.as_str(), "01980f6d-00aa-7bbb-8ccc-0123456789ab"] {
        let rule =
            json!({ "name": "Known", "type": "image_hash", "lists": [list], "effect": "reject" });
        let new = json!({ "name": "Known images", "team_id": team, "rules": [rule] });
        let told = faces.refused("/rule-groups", new).await;
        let file = rules_naming(list);
        let path = file.path().to_str().unwrap();
        for arguments in [
            &["load-rules", "--team", &team, path][..],
            &["load-rules", "--team", &team, "--publish-to", &group, path],
            &[
                "create-site",
                "--team",
                &team,
                "--name",
                "b",
                "--rules",
                path,
            ],
        ] {
            let said = faces.refused_command(arguments);
            assert!(said.contains(&told), "{arguments:?}: {told}\n{said}");
        }
    }
    let stored = "select (select count(*) from rule_group_versions) + (select count(*) from sites)";
    assert_eq!(
        count(&pool, stored).await,
        2,
        "the site and its group's first version"
    );
}

#[sqlx::test(migrations = false)]
async fn both_faces_record_the_same_in_the_audit_log(pool: PgPool) {
    run(&pool, &["migrate"]);
    let faces = Faces::open(&pool).await;
    let plan = text(&admin(&pool, &["create-plan", "--name", "p"]), "plan_id");
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    let site = admin(&pool, &["create-site", "--team", &team, "--name", "s"]);
    let (site, group) = (text(&site, "site_id"), text(&site, "rule_group_id"));
    let file = tempfile::NamedTempFile::new().unwrap();
    let rule = json!({ "name": "n", "type": "keyword", "keywords": ["w"], "effect": "reject" });
    let rules = json!({ "name": "Words", "rules": [rule] });
    std::fs::write(file.path(), rules.to_string()).unwrap();
    let path = file.path().to_str().unwrap();

    let draft = format!("/rule-groups/{group}/draft");
    let (_, draft_then) = faces.ask(Method::GET, &draft, &Value::Null).await;
    let change = json!({ "rules": [rule], "revision": draft_then["revision"] });
    let (status, draft_now) = faces.ask(Method::PUT, &draft, &change).await;
    assert_eq!(status, 200, "{draft_now}");

    let post = |path: &str, body: Value| (Method::POST, path.to_owned(), body);
    let subscription = json!({ "plan_id": plan, "state": "past_due" });
    let back = ["subscribe", "--team", &team, "--plan", &plan];
    let pairs: &[(&str, Request, &[&str])] = &[
        (
            "a plan",
            post(
                "/plans",
                json!({ "name": "a", "submissions_per_minute": 7 }),
            ),
            &[
                "create-plan",
                "--name",
                "b",
                "--submissions-per-minute",
                "7",
            ],
        ),
        (
            "a change of a plan",
            (
                Method::PATCH,
                format!("/plans/{plan}"),
                json!({ "sites_per_team": 7 }),
            ),
            &["change-plan", "--plan", &plan, "--sites-per-team", "7"],
        ),
        (
            "a team",
            post("/teams", json!({ "name": "a", "plan_id": plan })),
            &["create-team", "--name", "b", "--plan", &plan],
        ),
        (
            "a subscription",
            (
                Method::PUT,
                format!("/teams/{team}/subscription"),
                subscription,
            ),
            &[&back[..], &["--state", "past_due"]].concat(),
        ),
        (
            "a token",
            post(
                "/tokens",
                json!({ "name": "a", "team_id": team, "scopes": ["usage:read", "teams:read"] }),
            ),
            &[
                "create-token",
                "--name",
                "b",
                "--team",
                &team,
                "--scopes",
                "usage:read,teams:read",
            ],
        ),
        (
            "a key",
            post(&format!("/sites/{site}/keys"), Value::Null),
            &["create-key", "--site", &site],
        ),
        (
            "a rotation",
            post(&format!("/sites/{site}/keys/rotate"), Value::Null),
            &["rotate-key", "--site", &site],
        ),
        (
            "an endpoint",
            post(
                &format!("/sites/{site}/webhook-endpoints"),
                json!({ "url": "https://example.com/a" }),
            ),
            &[
                "create-endpoint",
                "--site",
                &site,
                "--url",
                "https://example.com/b",
            ],
        ),
        (
            "a rule group",
            post(
                "/rule-groups",
                json!({ "name": "a", "team_id": team, "rules": [rule] }),
            ),
            &["load-rules", "--team", &team, path],
        ),
        (
            "a version",
            post(
                &format!("/rule-groups/{group}/versions"),
                json!({ "revision": draft_now["revision"] }),
            ),
            &["load-rules", "--team", &team, "--publish-to", &group, path],
        ),
        (
            "a site",
            post(
                "/sites",
                json!({ "name": "a", "team_id": team, "default_rule_group_id": group }),
            ),
            &["create-site", "--team", &team, "--name", "b"],
        ),
    ];
    let undo: &[(&str, &str)] = &[
        (
            "a change of a plan",
            "update plans set sites_per_team = 100",
        ),
        (
            "a subscription",
            "update subscriptions set plan_id = '01990000-0000-7000-8000-000000000001', state = 'active', past_due_since = null",
        ),
    ];
    let mut differ = Vec::new();
    for (what, (method, path, body), arguments) in pairs {
        for statement in undo.iter().filter(|(of, _)| of == what) {
            sqlx::query(statement.1).execute(&pool).await.unwrap();
        }
        let before = faces.entries().await;
        let (status, made) = faces.ask(method.clone(), path, body).await;
        assert!((200..300).contains(&status), "{what}: {made}");
        let by_interface = faces.recorded(before).await;
        for statement in undo.iter().filter(|(of, _)| of == what) {
            sqlx::query(statement.1).execute(&pool).await.unwrap();
        }
        let before = faces.entries().await;
        admin(&pool, arguments);
        let mut by_command = faces.recorded(before).await;
        if *what == "a site" {
            // The command makes the site's default group, too.
            let group = by_command.remove(0);
            assert_eq!(group.0, "rule_group.create", "{group:?}");
        }
        if by_interface != by_command {
            differ.push((what, by_interface, by_command));
        }
    }
    assert!(differ.is_empty(), "{differ:#?}");

    let before = faces.entries().await;
    admin(&pool, &[&back[..], &["--state", "past_due"]].concat());
    assert_eq!(faces.entries().await, before, "nothing was changed");
}

#[sqlx::test(migrations = false)]
async fn a_site_with_the_longest_name_has_a_group_whose_name_the_interface_takes(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    let name = "é".repeat(100);
    let site = admin(&pool, &["create-site", "--team", &team, "--name", &name]);
    let faces = Faces::open(&pool).await;
    let path = format!("/rule-groups/{}", text(&site, "rule_group_id"));
    let (_, group) = faces.ask(Method::GET, &path, &Value::Null).await;
    let again = json!({ "name": group["name"] });
    let (status, renamed) = faces.ask(Method::PATCH, &path, &again).await;
    assert_eq!(status, 200, "{renamed}");
}

#[sqlx::test(migrations = false)]
async fn a_command_that_is_refused_half_way_leaves_nothing(pool: PgPool) {
    run(&pool, &["migrate"]);
    let team = text(&admin(&pool, &["create-team", "--name", "t"]), "team_id");
    sqlx::query("update plans set sites_per_team = 1")
        .execute(&pool)
        .await
        .unwrap();
    admin(&pool, &["create-site", "--team", &team, "--name", "a"]);
    let faces = Faces::open(&pool).await;
    let before = faces.entries().await;
    let said = faces.refused_command(&["create-site", "--team", &team, "--name", "b"]);
    assert!(said.contains("allows 1 sites"), "{said}");
    assert_eq!(faces.entries().await, before);
    assert_eq!(count(&pool, "select count(*) from rule_groups").await, 1);
}

#[sqlx::test(migrations = false)]
async fn a_demo_records_all_that_it_makes(pool: PgPool) {
    use sqlx::ConnectOptions as _;

    let database = pool.connect_options().to_url_lossy().to_string();
    let data = DataDir::new();
    for expected in [
        &[
            "team.create",
            "rule_group.create",
            "site.create",
            "key.create",
            "token.create",
            "endpoint.create",
        ][..],
        // The second receiver has another port.
        &["endpoint.update"],
    ] {
        let before = match count(
            &pool,
            "select count(*) from pg_class where relname = 'audit_log'",
        )
        .await
        {
            0 => 0,
            _ => count(&pool, "select count(*) from audit_log").await,
        };
        let receiver = Receiver::start().await;
        let options = [
            "--database-url",
            &database,
            "--webhook-url",
            &receiver.url(),
        ];
        let up = Up::start(&data, &options).await;
        let recorded: Vec<String> =
            sqlx::query_scalar("select action from audit_log order by id offset $1")
                .bind(before)
                .fetch_all(&pool)
                .await
                .unwrap();
        drop(up);
        assert_eq!(recorded, expected);
    }
}
