//! Exports of a site's data, and their archives.

use std::time::Duration;

use domain::scope::Scope;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::{io::AsyncReadExt as _, time::timeout};

use super::{Caller, document::assert_answers};
use crate::{
    app::{App, Tenant},
    client::{self, Answer, Wire},
};

/// A digest in a cursor.
const DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

impl Caller<'_> {
    /// A new export of the tenant's site.
    async fn site_export(&self) -> Value {
        let site = json!({ "site_id": self.app.tenant.site });
        self.post("/exports", site).await.created()
    }

    async fn archive(&self, export: &Value, query: &str) -> Answer {
        let id = export["id"].as_str().unwrap();
        self.get(&format!("/exports/{id}/archive{query}")).await
    }
}

/// Items by SQL, decided, with a text of so many bytes each.
async fn add_items(pool: &PgPool, tenant: &Tenant, items: i32, bytes: i32) {
    for statement in [
        "insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
         select
             -- Of the past, as version 7 writes it.
             (lpad(to_hex(1700000000000 + n), 12, '0') || '7000' || '8000000000000001')::uuid,
             s.team_id, s.id, 'approved', 'text', rpad('secret of ' || s.id, $3, 'x'), array[g.live_version_id], 1
         from sites s
         join rule_groups g on g.id = s.default_rule_group_id
         cross join generate_series(1, $2) n
         where s.id = $1",
        "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
         select id, n, 'approved', 'pending', 'rule', '{}', '{\"secret\":true}'
         from media, generate_series(1, 25) n where site_id = $1 and $2 > 0 and $3 > 0",
        "update media set verdict = 25 where site_id = $1 and $2 > 0 and $3 > 0",
    ] {
        sqlx::query(statement)
            .bind(tenant.site.as_uuid())
            .bind(items)
            .bind(bytes)
            .execute(pool)
            .await
            .unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn an_export_is_created_and_read_and_each_download_is_recorded(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    add_items(&app.pool, &app.tenant, 3, 50).await;
    let export = member.site_export().await;
    assert_answers("POST", "/exports", &export);
    assert_eq!(export["site_id"], app.tenant.site.to_string());
    let path = format!("/exports/{}", export["id"].as_str().unwrap());
    assert_eq!(member.get(&path).await.ok(), export);
    let list = member.get("/exports").await.ok();
    assert_answers("GET", "/exports", &list);
    assert_eq!(list["data"], json!([export]));
    // What comes later does not belong to it.
    let later = "update media set body = 'later' where id = (select id from media order by id desc limit 1)";
    sqlx::query(later).execute(&app.pool).await.unwrap();
    let moved = "update media set id = (select upto from exports) where body = 'later'";
    sqlx::query(moved).execute(&app.pool).await.unwrap();

    let archive = member.archive(&export, "").await;
    assert_eq!(archive.status, 200, "{archive:?}");
    assert_eq!(archive.header("content-type"), Some("application/x-tar"));
    for part in [
        "export.json",
        "site.json",
        "/group.json",
        "/1.yaml",
        "items/",
        "end.json",
        "\"items\": 2",
        "secret of",
    ] {
        assert!(archive.body.contains(part), "{part}: {}", archive.body);
    }
    assert!(!archive.body.contains("later"));
    // 25 verdicts are two lines.
    assert_eq!(archive.body.matches("\"number\" : 25").count(), 2);
    let actions: Vec<String> = sqlx::query_scalar(
        "select action from audit_log where target_id = $1 and action like 'export.%' order by id",
    )
    .bind(app.tenant.site.as_uuid())
    .fetch_all(&app.pool)
    .await
    .unwrap();
    assert_eq!(actions, ["export.create", "export.read"]);

    // It is gone when it has expired.
    let expire = "update exports set expires_at = now()";
    sqlx::query(expire).execute(&app.pool).await.unwrap();
    member.get(&path).await.problem(404, "not_found");
    member.archive(&export, "").await.problem(404, "not_found");
}

#[sqlx::test(migrations = false)]
async fn a_team_has_ten_exports_at_a_time(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    for _ in 0..10 {
        member.site_export().await;
    }
    let site = json!({ "site_id": app.tenant.site });
    let beyond = member.post("/exports", site.clone()).await;
    beyond.problem(409, "limit_reached");
    let expire = "update exports set expires_at = now() where id = (select id from exports order by id limit 1)";
    sqlx::query(expire).execute(&app.pool).await.unwrap();
    member.post("/exports", site).await.created();
}

#[sqlx::test(migrations = false)]
async fn only_the_scope_for_it_allows_to_read_content(pool: PgPool) {
    let app = App::start(pool).await;
    let all_others: Vec<Scope> = Scope::ALL
        .iter()
        .copied()
        .filter(|scope| *scope != Scope::SitesExport)
        .collect();
    let member = app.member(app.tenant.team).await;
    let export = member.site_export().await;
    let caller = app.caller(Some(app.tenant.team), &all_others).await;
    let archive = caller.archive(&export, "").await;
    archive.problem(403, "missing_scope");
}

#[sqlx::test(migrations = false)]
async fn a_cursor_that_names_another_teams_things_shows_nothing_of_them(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    let their = Tenant::create(&app.pool, "their").await;
    add_items(&app.pool, &their, 3, 50).await;
    let export = member.site_export().await;
    let things: Vec<uuid::Uuid> = sqlx::query_scalar(
        "select id from media where team_id = $1 union all select id from rule_groups where team_id = $1",
    )
    .bind(their.team.as_uuid())
    .fetch_all(&app.pool)
    .await
    .unwrap();
    assert_eq!(things.len(), 4);
    for thing in things.into_iter().chain([uuid::Uuid::nil()]) {
        for part in ["rules", "items", "audit"] {
            for ordinal in [0, 1] {
                let query = format!("?after=5.{part}.{thing}.{ordinal}.0.0.{DIGEST}");
                let archive = member.archive(&export, &query).await;
                assert_eq!(archive.status, 200, "{archive:?}");
                assert!(archive.body.contains("end.json"), "{archive:?}");
                for theirs in [their.team.to_string(), their.site.to_string()] {
                    assert!(!archive.body.contains(&theirs), "{query}: {archive:?}");
                }
                assert!(!archive.body.contains("\"secret\""), "{query}: {archive:?}");
            }
        }
    }
    let wrong = member.archive(&export, "?after=items/000007.ndjson").await;
    wrong.blames("invalid_request", &["after"]);
}

#[sqlx::test(migrations = false)]
async fn a_team_downloads_one_archive_at_a_time_and_a_disabled_token_ends_it(pool: PgPool) {
    let app = App::start(pool).await;
    let member = app.member(app.tenant.team).await;
    // More than sockets take.
    add_items(&app.pool, &app.tenant, 300, 100_000).await;
    let export = member.site_export().await;
    let mut slow = Wire::open(app.address).await;
    let target = format!(
        "/management/v1/exports/{}/archive",
        export["id"].as_str().unwrap()
    );
    let authorization = format!("Bearer {}", member.token);
    let headers = [("Authorization", authorization.as_str())];
    slow.send(client::request("GET", &target, &headers, b""))
        .await;
    let mut read = vec![0; 100_000];
    slow.stream.read_exact(&mut read).await.unwrap();

    let second = member.archive(&export, "").await;
    second.problem(429, "too_many_downloads");
    assert!(second.header("retry-after").is_some(), "{second:?}");
    // Another team is not concerned.
    let their = Tenant::create(&app.pool, "their").await;
    let other = app.member(their.team).await;
    let site = json!({ "site_id": their.site });
    let theirs = other.post("/exports", site).await.created();
    assert_eq!(other.archive(&theirs, "").await.status, 200);

    let disable = format!("/tokens/{}", member.id().await);
    app.operator().await.delete(&disable).await.done();
    let mut rest = Vec::new();
    let ended = timeout(Duration::from_mins(1), slow.stream.read_to_end(&mut rest)).await;
    ended.expect("the answer ends").ok();
    assert!(!String::from_utf8_lossy(&rest).contains("end.json"));
    assert!(rest.len() < 30_000_000, "{}", rest.len());
    drop(slow);

    // The next one can begin. Thirty million bytes are not needed for that.
    let short = "update media set body = 'short' where team_id = $1";
    let short = sqlx::query(short).bind(app.tenant.team.as_uuid());
    short.execute(&app.pool).await.unwrap();
    let member = app.member(app.tenant.team).await;
    let whole = member.archive(&export, "").await;
    assert_eq!(whole.status, 200);
    assert!(whole.body.contains("end.json"));
}
