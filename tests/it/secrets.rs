//! What a busy, troubled service writes down: no key, token, secret or content in its logs and metrics, whatever their level,
//! and no key, token or secret in clear in its database. Each name begins with the number of its case in
//! `docs/reliability.md`.

use std::{
    fs::{self, File},
    process::Command,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sqlx::{ConnectOptions as _, PgPool};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::support::{
    Api, FakeProvider, MASTER_KEY, Mode, Receiver, Site, Worker, admin, eventually, gatehouse,
    http, new_site, text,
};

const SOON: Duration = Duration::from_secs(30);

const TEXT: &str = "an-unmistakable-text";
const METADATA: &str = "an-unmistakable-metadatum";
const APP_MEDIA_ID: &str = "an-unmistakable-name";
const IMAGE_USER: &str = "unmistakable-user";
const IMAGE_PASSWORD: &str = "unmistakable-password";
const IMAGE: &str = "an-unmistakable-picture";
const QUERY: &str = "an-unmistakable-query";
const ANSWER: &str = "an-unmistakable-answer";
const MALFORMED: &str = "an-unmistakable-mistake";

/// An interface and a worker that tell everything there is to tell.
struct Service {
    api: Api,
    worker: Worker,
    logs: TempDir,
}

impl Service {
    async fn start(pool: &PgPool, provider: &FakeProvider, receiver: &Receiver) -> Self {
        let logs = tempfile::tempdir().unwrap();
        let command = |log: &str| {
            let log = File::create(logs.path().join(log)).unwrap();
            let mut command = gatehouse(pool);
            command
                .env("GATEHOUSE_LOG", "trace")
                .env("RUST_BACKTRACE", "1")
                .env("GATEHOUSE_EGRESS_ALLOW", receiver.host())
                .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY)
                .stdout(log.try_clone().unwrap())
                .stderr(log);
            command
        };
        let mut worker = command("worker");
        for (name, value) in provider.variables() {
            worker.env(name, value);
        }
        Self {
            api: Api::launch(command("api"), &["--outage-seconds", "1"]).await,
            worker: Worker::launch(worker).await,
            logs,
        }
    }

    /// Everything that both have written, and both metrics pages.
    async fn told(&self) -> String {
        let mut told = String::new();
        for file in fs::read_dir(self.logs.path()).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            told += &String::from_utf8_lossy(&bytes);
        }
        for url in [&self.api.metrics_url, &self.worker.metrics_url] {
            let page = http().get(url).send().await.unwrap();
            told += &page.text().await.unwrap();
        }
        told
    }

    /// A request that need not succeed.
    async fn try_to(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> u16 {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("http://{}{path}", self.api.address);
        let mut request = http().request(method, url).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
    }

    async fn submit(&self, site: &Site, mut body: Value) -> (u16, Value) {
        body["api_key"] = site.key.as_str().into();
        self.api
            .post("submit-media", Some(APP_MEDIA_ID), &body)
            .await
            .unwrap()
    }
}

const JSON: (&str, &str) = ("Content-Type", "application/json");

/// What customers do, and what they do wrong.
async fn use_it(service: &Service, site: &Site, token: &str) {
    let picture = [b"\x89PNG\r\n\x1a\n", IMAGE.as_bytes()].concat();
    let bodies = [
        json!({ "body": TEXT, "metadata": { "a": METADATA }, "app_media_id": APP_MEDIA_ID }),
        json!({ "body": format!("{TEXT} {}", FakeProvider::VIOLENT) }),
        json!({ "content_base64": STANDARD.encode(&picture) }),
        json!({ "content_url": format!("https://{IMAGE_USER}:{IMAGE_PASSWORD}@example.com/{QUERY}") }),
        json!({ "body": TEXT, "rule_group_id": QUERY }),
        json!({ "body": [TEXT] }),
        json!({ "metadata": METADATA }),
    ];
    let mut items = Vec::new();
    for (n, mut body) in bodies.into_iter().enumerate() {
        body["api_key"] = site.key.as_str().into();
        let key = format!("{APP_MEDIA_ID}-{n}");
        let (_, answer) = service
            .api
            .post("submit-media", Some(&key), &body)
            .await
            .unwrap();
        if let Some(id) = answer["id"].as_str() {
            items.push(id.to_owned());
        }
    }
    assert!(items.len() >= 3, "{}", items.len());
    for id in &items {
        eventually("a verdict", SOON, async || {
            let body = json!({ "api_key": site.key, "media_id": id });
            let (_, answer) = service
                .api
                .post("get-media-status", None, &body)
                .await
                .unwrap();
            (answer["status"] != "pending").then_some(())
        })
        .await;
        let query = format!(
            "/functions/v1/get-media-status?api_key={}&media_id={id}",
            site.key
        );
        assert_eq!(service.try_to("GET", &query, &[], String::new()).await, 200);
    }

    do_it_wrong(service, site, token).await;
}

async fn do_it_wrong(service: &Service, site: &Site, token: &str) {
    let bearer = format!("Bearer {token}");
    let submit = "/functions/v1/submit-media";
    for (method, path, headers, body) in [
        (
            "POST",
            submit,
            &[JSON][..],
            format!("{{\"api_key\":\"{}\",\"body\":\"{MALFORMED}", site.key),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"{MALFORMED}\":1,\"{MALFORMED}\":2,\"body\":\"\\ud800 {TEXT}\"}}"),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"body\":\"{TEXT}\",\"body\":\"{TEXT}\"}}"),
        ),
        (
            "POST",
            submit,
            &[JSON],
            format!("{{\"body\":\"{}\"}}", TEXT.repeat(1 << 20)),
        ),
        (
            "POST",
            submit,
            &[JSON, ("Content-Encoding", "gzip")],
            TEXT.into(),
        ),
        (
            "POST",
            submit,
            &[JSON, ("Authorization", &bearer), ("Cookie", QUERY)],
            "{}".into(),
        ),
        ("PUT", submit, &[("Content-Type", QUERY)], TEXT.into()),
        (
            "GET",
            "/functions/v1/an-unmistakable-query?api_key=an-unmistakable-query",
            &[],
            String::new(),
        ),
        (
            "GET",
            "/an-unmistakable-query",
            &[("X-Forwarded-For", QUERY), ("User-Agent", QUERY)],
            String::new(),
        ),
        (
            "GET",
            "/management/v1/teams",
            &[("Authorization", &bearer)],
            String::new(),
        ),
        (
            "GET",
            "/management/v1/teams?cursor=an-unmistakable-query",
            &[("Authorization", &bearer)],
            String::new(),
        ),
        (
            "POST",
            "/management/v1/plans",
            &[JSON, ("Authorization", &bearer)],
            format!("{{\"name\":[\"{MALFORMED}\"]}}"),
        ),
        (
            "POST",
            "/management/v1/tokens",
            &[JSON, ("Authorization", &bearer)],
            "{\"name\":\"made\",\"scopes\":[]}".into(),
        ),
    ] {
        let status = service.try_to(method, path, headers, body).await;
        assert!(status < 500, "{method} {path}: {status}");
    }
}

/// What goes wrong inside.
async fn trouble(service: &Service, site: &Site, provider: &FakeProvider, pool: &PgPool) {
    // A row that Postgres refuses, which it tells with all of its values.
    execute(
        pool,
        "alter table media add constraint refused check (body not like '%refuse me')",
    )
    .await;
    let refused = json!({ "body": format!("{TEXT} refuse me") });
    assert_eq!(service.submit(site, refused).await.0, 400);

    // A provider that quotes the text in its errors, or is gone.
    for mode in [
        Mode::Quoting(400),
        Mode::Quoting(500),
        Mode::Malformed,
        Mode::Reset,
    ] {
        provider.answer(mode);
        let asked = provider.asked();
        let body = json!({ "body": format!("{TEXT} {mode:?}"), "api_key": site.key });
        service.api.post("submit-media", None, &body).await.unwrap();
        eventually("an analysis", SOON, async || {
            (provider.asked() > asked).then_some(())
        })
        .await;
    }
    provider.answer(Mode::Well);

    // A database that lets nobody in, and one that lets them in again.
    let name: String = sqlx::query_scalar("select current_database()")
        .fetch_one(pool)
        .await
        .unwrap();
    let elsewhere = (*pool.connect_options()).clone().database("postgres");
    let mut conn = elsewhere.connect().await.unwrap();
    let close = format!("alter database \"{name}\" allow_connections false");
    let open = format!("alter database \"{name}\" allow_connections true");
    // Those of this test: others have their own on the same server.
    let disconnect = format!(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where application_name like 'gatehouse%' and datname = '{name}'"
    );
    for statement in [&close, &disconnect] {
        sqlx::raw_sql(sqlx::AssertSqlSafe(statement.as_str()))
            .execute(&mut conn)
            .await
            .unwrap();
    }
    let body = json!({ "body": format!("{TEXT} away"), "metadata": { "a": METADATA } });
    assert_eq!(service.submit(site, body.clone()).await.0, 503);
    sleep(Duration::from_secs(2)).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(open.as_str()))
        .execute(&mut conn)
        .await
        .unwrap();
    eventually("the database is back", SOON, async || {
        (service.submit(site, body.clone()).await.0 == 200).then_some(())
    })
    .await;
}

async fn execute(pool: &PgPool, statement: &'static str) {
    sqlx::raw_sql(statement).execute(pool).await.unwrap();
}

/// Everything that nobody may read.
fn secrets(pool: &PgPool, site: &Site, token: &str) -> Vec<String> {
    let url = pool.connect_options().to_url_lossy();
    let mut secrets: Vec<String> = [
        &site.key,
        token,
        &site.webhook_secret,
        MASTER_KEY,
        FakeProvider::KEY,
    ]
    .map(ToOwned::to_owned)
    .into();
    secrets.extend(url.password().map(ToOwned::to_owned));
    // Without what they begin with, too.
    for secret in secrets.clone() {
        secrets.extend(secret.split_once('_').map(|(_, rest)| rest.to_owned()));
    }
    secrets
}

/// In whatever way something may be written: as it is, as bytes in hexadecimal or base64, and what base64 stands for.
fn spellings(marker: &str) -> Vec<String> {
    let mut spellings = vec![
        marker.to_owned(),
        hex::encode(marker),
        STANDARD.encode(marker).trim_end_matches('=').to_owned(),
    ];
    spellings.extend(STANDARD.decode(marker).ok().map(hex::encode));
    spellings
}

/// # Panics
/// With the line around it, when a marker is in there.
fn assert_free(what: &str, told: &str, markers: &[String]) {
    for marker in markers {
        for spelling in spellings(marker) {
            if let Some(line) = told.lines().find(|line| line.contains(&spelling)) {
                panic!("{what} holds {marker} as {spelling}:\n{line}");
            }
        }
    }
}

fn dump(pool: &PgPool) -> String {
    let mut url = pool.connect_options().to_url_lossy();
    // Of settings that only our driver knows.
    url.set_query(None);
    let tell = ". scripts/lib.sh; exec \"$(postgres_programs)/pg_dump\" \"$1\"";
    let output = Command::new("sh")
        .args(["-c", tell, "scripts/dump", url.as_str()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[sqlx::test(migrations = false)]
async fn case_31_neither_database_nor_logs_nor_metrics_hold_a_secret(pool: PgPool) {
    let site = new_site(&pool);
    let token = admin(&pool, &["create-token", "--name", "all", "--scopes", "all"]);
    let token = text(&token, "management_token");
    let (provider, receiver) = (
        FakeProvider::openai(Mode::Well).await,
        Receiver::start().await,
    );
    admin(
        &pool,
        &[
            "create-endpoint",
            "--site",
            &site.id,
            "--url",
            &receiver.url(),
            "--egress-allow",
            &receiver.host(),
        ],
    );
    receiver.say(ANSWER);

    let service = Service::start(&pool, &provider, &receiver).await;
    use_it(&service, &site, &token).await;
    trouble(&service, &site, &provider, &pool).await;

    let secrets = secrets(&pool, &site, &token);
    let content = [
        TEXT,
        METADATA,
        APP_MEDIA_ID,
        IMAGE_USER,
        IMAGE_PASSWORD,
        IMAGE,
        QUERY,
        ANSWER,
        MALFORMED,
    ];
    let markers: Vec<String> = content
        .iter()
        .map(ToString::to_string)
        .chain(secrets.clone())
        .collect();
    let told = service.told().await;
    for heard in [
        "answered",
        "could not store submissions",
        "a provider failed permanently for an item",
        "TRACE",
        "gatehouse_http_requests_total",
    ] {
        assert!(
            told.contains(heard),
            "{heard} is nowhere: the test has not heard everything"
        );
    }
    assert_free("what was told", &told, &markers);

    let dump = dump(&pool);
    for kept in [TEXT, METADATA, "mgmt_"] {
        assert_eq!(dump.contains(kept), kept != "mgmt_", "{kept}");
    }
    assert_free("the database", &dump, &secrets);
}
