//! A site is exported over HTTP and imported into another Gatehouse, by real processes.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::Stdio,
};

use serde_json::Value;
use sqlx::{AssertSqlSafe, ConnectOptions as _, PgPool};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{Api, DataDir, Up, admin, gatehouse, run, text};

/// A site with a week of invented history, and what the invention has not: an image, an item with many verdicts and notes, odd
/// spacing and a zero character in stored JSON, an item without a verdict, rules that were changed.
struct Source {
    team: Uuid,
    site: Uuid,
    items: i64,
}

/// Runs the statements with the site as `$1`.
async fn with_site(pool: &PgPool, site: Uuid, statements: &[&'static str]) {
    for statement in statements {
        sqlx::query(*statement)
            .bind(site)
            .execute(pool)
            .await
            .unwrap();
    }
}

async fn execute(pool: &PgPool, statement: &'static str) {
    sqlx::query(statement).execute(pool).await.unwrap();
}

async fn number(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}

impl Source {
    async fn create(pool: &PgPool) -> Self {
        let data = DataDir::new();
        let database = pool.connect_options().to_url_lossy().to_string();
        // With the master key of the other commands.
        let options = ["--database-url", &database, "--demo-data"];
        let up = Up::start_with_files(&data, 1024, &options).await;
        drop(up);
        let (team, site): (Uuid, Uuid) =
            sqlx::query_as("select team_id, id from sites where name = 'Marketplace'")
                .fetch_one(pool)
                .await
                .unwrap();
        with_site(
            pool,
            site,
            &[
                "insert into media_images (media_id, site_id, format, bytes, width, height, sha256)
                 select id, site_id, 'png', decode(repeat('89504e47', 300000), 'hex'), 10, 20, sha256('x')
                 from media where site_id = $1 order by id limit 3",
                "update media set metadata = E'{ \"b\" : 1.50,\\n\"a\":\"\\\\u0041\" }'
                 where id in (select id from media where site_id = $1 order by id limit 5)",
                r#"update analyses set providers = '[{"provider":"a","scores":{},"elapsed_ms":1,"raw":"a\u0000b"}]'
                 where media_id in (select id from media where site_id = $1 order by id limit 5)"#,
                // 45 verdicts and 50 notes are three lines each.
                "insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
                 select v.media_id, n, v.status, v.status, 'manual', v.details, v.trace
                 from verdicts v, generate_series(v.number + 1, 45) n
                 where (v.media_id, v.number) = (
                     select id, verdict from media where site_id = $1 and status = 'approved' order by id offset 7 limit 1
                 )",
                "update media set verdict = 45
                 where id = (select media_id from verdicts where number = 45 and $1 is not null)",
                "insert into review_notes (id, media_id, team_id, actor_id, body)
                 select gen_random_uuid(), m.id, m.team_id, gen_random_uuid(), 'note ' || n
                 from media m, generate_series(1, 50) n
                 where m.verdict = 45 and m.site_id = $1",
                "update media set status = 'pending', verdict = null
                 where id = (select id from media where site_id = $1 and status = 'approved' and verdict = 1 limit 1)",
            ],
        )
        .await;
        let items = sqlx::query_scalar("select count(*) from media where site_id = $1")
            .bind(site)
            .fetch_one(pool)
            .await
            .unwrap();
        Self { team, site, items }
    }

    /// A token of the team.
    fn token(&self, pool: &PgPool) -> String {
        token(pool, self.team)
    }
}

fn token(pool: &PgPool, team: Uuid) -> String {
    let team = team.to_string();
    let made = admin(
        pool,
        &[
            "create-token",
            "--name",
            "a",
            "--team",
            &team,
            "--scopes",
            "all",
        ],
    );
    text(&made, "management_token")
}

/// Another database on the same server.
async fn another(pool: &PgPool) -> PgPool {
    let name = format!("copy_{}", Uuid::now_v7().simple());
    let create = format!("create database {name}");
    sqlx::query(AssertSqlSafe(create))
        .execute(pool)
        .await
        .unwrap();
    let options = (*pool.connect_options()).clone().database(&name);
    PgPool::connect_with(options).await.unwrap()
}

async fn drop_database(pool: &PgPool, other: PgPool) {
    let name = other.connect_options();
    let name = name.get_database().unwrap();
    let statement = format!("drop database {name} with (force)");
    other.close().await;
    sqlx::query(AssertSqlSafe(statement))
        .execute(pool)
        .await
        .unwrap();
}

/// `gatehouse export`.
fn export(pool: &PgPool, api: &Api, token: &Path, site: Uuid, to: &Path) -> Value {
    let (url, site) = (format!("http://{}", api.address), site.to_string());
    let arguments = ["export", "--json", "--url", &url, "--site", &site];
    let output = gatehouse(pool)
        .args(arguments)
        .arg("--token-file")
        .arg(token)
        .arg("--to")
        .arg(to)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `gatehouse import` that succeeds.
fn import(pool: &PgPool, file: &Path, team: &str) -> Value {
    let file = file.to_str().unwrap();
    let output = run(pool, &["import", "--json", "--file", file, "--team", team]);
    serde_json::from_slice(&output).unwrap()
}

/// The error of one that does not.
fn refused(pool: &PgPool, file: &Path, team: &str) -> String {
    let file = file.to_str().unwrap();
    let output = gatehouse(pool)
        .args(["import", "--file", file, "--team", team])
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

async fn get(api: &Api, token: &str, path: &str) -> String {
    let url = format!("http://{}/management/v1{path}", api.address);
    let answer = api.http.get(url).bearer_auth(token).send().await.unwrap();
    assert!(answer.status().is_success(), "{path}: {answer:?}");
    answer.text().await.unwrap()
}

/// An item as the interface shows it, without what an import leaves behind: the team, and events.
async fn item(api: &Api, token: &str, id: &Uuid) -> Value {
    let item = get(api, token, &format!("/media/{id}")).await;
    let mut item: Value = serde_json::from_str(&item).unwrap();
    let members = item.as_object_mut().unwrap();
    assert!(members.remove("team_id").is_some());
    assert!(members.remove("events").is_some());
    // Notes have authors elsewhere.
    members.remove("notes");
    item
}

#[sqlx::test(migrations = false)]
async fn a_site_moves_to_another_gatehouse_through_broken_connections_and_kills(pool: PgPool) {
    let source = Source::create(&pool).await;
    let directory = TempDir::new().unwrap();
    let (file, token_file) = (
        directory.path().join("site.tar"),
        directory.path().join("token"),
    );
    let token = source.token(&pool);
    fs::write(&token_file, &token).unwrap();
    let api = Api::start(&pool).await;

    let exported = export(&pool, &api, &token_file, source.site, &file);
    assert_eq!(exported["items"], source.items, "{exported}");
    let whole = fs::read(&file).unwrap();
    // What a broken connection leaves: a header without its member, half a member, all but the end.
    for cut in [
        8_000,
        whole.len() / 3 + 77,
        whole.len() / 2,
        whole.len() - 1_500,
    ] {
        fs::write(&file, &whole[..cut]).unwrap();
        let again = export(&pool, &api, &token_file, source.site, &file);
        assert_eq!(again, exported, "{cut}");
        assert!(fs::read(&file).unwrap() == whole, "{cut}");
    }

    let other = another(&pool).await;
    run(&other, &["migrate"]);
    let team = text(
        &admin(&other, &["create-team", "--name", "copy"]),
        "team_id",
    );
    // An archive that is not whole changes nothing.
    let damaged = directory.path().join("damaged.tar");
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    let error = refused(&other, &damaged, &team);
    assert!(error.contains("is incomplete"), "{error}");
    let mut bytes = whole.clone();
    let digit = bytes.len() / 2;
    bytes[digit] = if bytes[digit] == b'a' { b'b' } else { b'a' };
    fs::write(&damaged, &bytes).unwrap();
    let error = refused(&other, &damaged, &team);
    assert!(
        error.contains("damaged") || error.contains("unusable"),
        "{error}"
    );
    // Nor does a team that is being closed get another site.
    execute(&other, "update teams set closure_id = gen_random_uuid()").await;
    let error = refused(&other, &file, &team);
    assert!(error.contains("The team is being closed"), "{error}");
    execute(&other, "update teams set closure_id = null").await;
    assert_eq!(number(&other, "select count(*) from sites").await, 0);

    // Killed after its first items.
    let mut child = gatehouse(&other)
        .args(["import", "--file", file.to_str().unwrap(), "--team", &team])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(first.starts_with("items/"), "{first}");
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = number(&other, "select count(*) from media").await;
    assert!(kept > 0);
    let imported = import(&other, &file, &team);
    assert_eq!(imported["site_is_new"], false, "{imported}");
    assert_eq!(imported["pending_items_left_out"], 1, "{imported}");
    let there = imported["items_there"].as_i64().unwrap();
    assert!(there >= kept, "{imported}");
    assert_eq!(
        imported["new_items"].as_i64().unwrap() + there,
        source.items - 1,
        "{imported}"
    );
    // Once more: nothing is doubled.
    let again = import(&other, &file, &team);
    assert_eq!(
        (&again["new_items"], &again["new_rule_versions"]),
        (&0.into(), &0.into())
    );
    assert_same(&pool, &other, &source, &api, &team).await;

    // A site that is being closed gets nothing.
    let before = number(&other, "select count(*) from media").await;
    execute(&other, "update sites set closure_id = gen_random_uuid()").await;
    let error = refused(&other, &file, &team);
    assert!(error.contains("The site is being closed"), "{error}");
    execute(&other, "update sites set closure_id = null").await;
    assert_eq!(number(&other, "select count(*) from media").await, before);

    // Another team gets nothing that belongs to this one.
    let before = number(&other, "select count(*) from media").await;
    let stranger = text(&admin(&other, &["create-team", "--name", "b"]), "team_id");
    let error = refused(&other, &file, &stranger);
    assert!(error.contains("is there already"), "{error}");
    assert_eq!(number(&other, "select count(*) from media").await, before);
    let moved = "select count(*) from media m join sites s on s.id = m.site_id where m.team_id <> s.team_id";
    assert_eq!(number(&other, moved).await, 0);
    drop_database(&pool, other).await;
}

/// Items, verdicts and rules are the same by the answers of both interfaces, and nothing else was made.
async fn assert_same(pool: &PgPool, other: &PgPool, source: &Source, api: &Api, team: &str) {
    let copy = Api::start(other).await;
    let tokens = (source.token(pool), token(other, team.parse().unwrap()));
    let items: Vec<Uuid> = sqlx::query_scalar(
        "select id from media
         where site_id = $1 and status <> 'pending'
         and (
             verdict > 1 or status = 'pending_review' or id in (select media_id from media_images)
             or id in (select id from media where site_id = $1 order by id limit 60)
         )
         order by id limit 250",
    )
    .bind(source.site)
    .fetch_all(pool)
    .await
    .unwrap();
    assert!(items.len() > 60, "{}", items.len());
    for id in &items {
        let (here, there) = (
            item(api, &tokens.0, id).await,
            item(&copy, &tokens.1, id).await,
        );
        assert_eq!(here, there);
    }
    for query in [
        // Times to the microsecond, JSON to the letter.
        "select md5(string_agg(concat_ws('|', m.id, m.status, m.body, m.metadata::text, m.author, m.created_at, m.verdict), ''
         order by m.id)) from media m where m.status <> 'pending' and m.site_id = $1",
        "select md5(string_agg(concat_ws('|', v.media_id, v.number, v.status, v.previous_status, v.moderation_type,
         v.details::text, v.trace::text, v.moderated_at), '' order by v.media_id, v.number))
         from verdicts v join media m on m.id = v.media_id where m.status <> 'pending' and m.site_id = $1",
        "select md5(string_agg(concat_ws('|', a.media_id, a.scores::text, a.providers::text, a.unchecked::text, a.created_at), ''
         order by a.media_id))
         from analyses a join media m on m.id = a.media_id where m.status <> 'pending' and m.site_id = $1",
        "select md5(string_agg(concat_ws('|', i.media_id, i.format, md5(i.bytes), i.sha256, i.width), '' order by i.media_id))
         from media_images i join media m on m.id = i.media_id where m.status <> 'pending' and i.site_id = $1",
        "select md5(string_agg(concat_ws('|', n.id, n.media_id, n.body, n.written_at), '' order by n.id))
         from review_notes n join media m on m.id = n.media_id where m.site_id = $1",
        "select md5(string_agg(concat_ws('|', r.media_id, r.waiting_since), '' order by r.media_id))
         from reviews r where r.site_id = $1",
        "select count(*)::text from review_tasks where kind = 'review' and site_id = $1",
    ] {
        let mut sums = Vec::new();
        for database in [pool, other] {
            let sum: Option<String> = sqlx::query_scalar(query)
                .bind(source.site)
                .fetch_one(database)
                .await
                .unwrap();
            sums.push(sum.expect("there are such rows"));
        }
        assert_eq!(sums[0], sums[1], "{query}");
    }
    let versions: Vec<(Uuid, Uuid)> = sqlx::query_as(
        "select distinct g.id, v.id
         from media m
         cross join unnest(m.group_versions) u(id)
         join rule_group_versions v on v.id = u.id
         join rule_groups g on g.id = v.rule_group_id
         where m.site_id = $1",
    )
    .bind(source.site)
    .fetch_all(pool)
    .await
    .unwrap();
    assert!(!versions.is_empty());
    for (group, version) in versions {
        let path = format!("/rule-groups/{group}/export?version_id={version}");
        let (here, there) = (
            get(api, &tokens.0, &path).await,
            get(&copy, &tokens.1, &path).await,
        );
        assert_eq!(here, there);
    }
    for nothing in [
        "select count(*) from events",
        "select count(*) from deliveries",
        "select count(*) from webhook_endpoints",
        "select count(*) from site_keys",
        "select coalesce(sum(submissions), 0)::bigint from usage",
        "select count(*) from queue.jobs where queue in ('images', 'analysis', 'rules', 'webhooks')",
    ] {
        assert_eq!(number(other, nothing).await, 0, "{nothing}");
    }
}
