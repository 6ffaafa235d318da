//! The whole service is killed at the worst moments. A proxy between it and Postgres finds these
//! moments. An item is stored with everything that belongs to it or not at all, and is decided
//! once. Each name begins with the number of its case in `docs/reliability.md`.

mod bulk_decisions;
mod statistics;

use serde_json::json;
use sqlx::{
    ConnectOptions as _, PgPool,
    postgres::{PgConnectOptions, PgSslMode},
};

use crate::{
    proxy::{Proxy, Trap},
    support::{DataDir, FakeProvider, Mode, SOON, Up, eventually, http, short_way},
};

const TEXT: &str = "a text that is nowhere else";

/// A service that runs behind a proxy, and its data.
struct Proxied {
    data: DataDir,
    provider: FakeProvider,
    proxy: Proxy,
    up: Up,
}

impl Proxied {
    async fn start(pool: &PgPool) -> Self {
        let data = DataDir::new();
        let provider = FakeProvider::openai(Mode::Well).await;
        let options: PgConnectOptions = (*pool.connect_options()).clone();
        let proxy = Proxy::start(options.get_host(), options.get_port());
        let behind = options
            .host("127.0.0.1")
            .port(proxy.port)
            .ssl_mode(PgSslMode::Disable);
        let up = start(&data, &provider, &behind).await;
        Self {
            data,
            provider,
            proxy,
            up,
        }
    }

    /// Submits the text without waiting for the answer, and returns when the trap has sprung.
    async fn submit(&self, texts: &[&str], trap: Trap) {
        self.proxy.set(texts, trap);
        let demo = self.up.demo();
        let submission = http()
            .post(format!("{}/submit-media", demo.base_url))
            .json(&json!({ "api_key": demo.site_key, "body": TEXT }))
            .send();
        tokio::spawn(submission);
        eventually("the trap has sprung", SOON, async || {
            self.proxy.has_sprung().then_some(())
        })
        .await;
    }

    /// Kills it, and starts it again without a proxy.
    async fn kill_and_start(self, pool: &PgPool) -> (Up, FakeProvider, DataDir) {
        self.up.kill();
        let up = start(&self.data, &self.provider, &pool.connect_options()).await;
        (up, self.provider, self.data)
    }
}

async fn start(data: &DataDir, provider: &FakeProvider, database: &PgConnectOptions) -> Up {
    let url = database.to_url_lossy().to_string();
    let mut arguments = vec!["--database-url", &url, "--lease-seconds", "2"];
    let options = provider.options();
    arguments.extend(options.iter().map(String::as_str));
    Up::start(data, &arguments).await
}

async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

/// Waits for the verdict of the only item, and checks that everything about it exists once.
async fn assert_decided_once(pool: &PgPool, up: &Up) {
    let media: String = sqlx::query_scalar("select id::text from media")
        .fetch_one(pool)
        .await
        .unwrap();
    let status = up.verdict(&media).await;
    assert_eq!(status["status"], "approved", "{status}");
    assert_eq!(count(pool, "select count(*) from verdicts").await, 1);
    let kinds: Vec<String> = sqlx::query_scalar("select kind::text from events order by 1")
        .fetch_all(pool)
        .await
        .unwrap();
    assert_eq!(kinds, ["media.created", "media.moderated"]);
}

#[sqlx::test(migrations = false)]
async fn case_02_a_service_killed_between_the_provider_and_the_commit_decides_once(pool: PgPool) {
    let service = Proxied::start(&pool).await;
    short_way(&pool).await;
    // The statement that stores the analysis and the verdict.
    service.submit(&["new_analyses"], Trap::HoldBefore).await;
    assert_eq!(service.provider.asked(), 1);
    assert_eq!(count(&pool, "select count(*) from analyses").await, 0);
    let (up, provider, _data) = service.kill_and_start(&pool).await;
    assert_decided_once(&pool, &up).await;
    assert_eq!(provider.asked(), 2);
    assert_eq!(count(&pool, "select count(*) from analyses").await, 1);
}

/// A part of the statement that announces an acceptance, and of no other.
const ANNOUNCES: &str = "accepted as materialized";

/// Kills a service at this moment of an item's short way, and checks that the item is decided and
/// announced once.
async fn told_once(pool: &PgPool, texts: &[&str], trap: Trap, asked: usize) {
    let service = Proxied::start(pool).await;
    short_way(pool).await;
    service.submit(texts, trap).await;
    assert_eq!(service.provider.asked(), asked);
    let (up, provider, _data) = service.kill_and_start(pool).await;
    assert_decided_once(pool, &up).await;
    assert_eq!(provider.asked(), asked + 1);
}

#[sqlx::test(migrations = false)]
async fn case_02_a_service_killed_before_it_tells_an_acceptance_tells_it_once(pool: PgPool) {
    told_once(&pool, &[ANNOUNCES], Trap::HoldBefore, 0).await;
}

#[sqlx::test(migrations = false)]
async fn case_02_a_service_killed_before_it_commits_an_acceptance_tells_it_once(pool: PgPool) {
    told_once(&pool, &[ANNOUNCES], Trap::HoldAfter, 0).await;
}

#[sqlx::test(migrations = false)]
async fn case_02_a_service_killed_when_an_acceptance_is_committed_tells_it_once(pool: PgPool) {
    told_once(&pool, &[ANNOUNCES, "COMMIT"], Trap::HoldAfter, 0).await;
}

#[sqlx::test(migrations = false)]
async fn case_02_a_service_killed_when_a_verdict_is_committed_decides_and_tells_once(pool: PgPool) {
    let service = Proxied::start(&pool).await;
    short_way(&pool).await;
    service.submit(&["new_analyses"], Trap::HoldAfter).await;
    let (up, provider, _data) = service.kill_and_start(&pool).await;
    assert_decided_once(&pool, &up).await;
    assert_eq!(provider.asked(), 2);
}

#[sqlx::test(migrations = false)]
async fn case_03_an_interface_killed_before_the_commit_has_stored_nothing(pool: PgPool) {
    let service = Proxied::start(&pool).await;
    service.submit(&[TEXT], Trap::HoldBefore).await;
    let (_up, provider, _data) = service.kill_and_start(&pool).await;
    let rows = "select (select count(*) from media) + (select count(*) from events)
                     + (select count(*) from deliveries)
                     + (select count(*) from queue.jobs where queue <> 'statistics')";
    assert_eq!(count(&pool, rows).await, 0);
    assert_eq!(provider.asked(), 0);
}

#[sqlx::test(migrations = false)]
async fn case_03_an_interface_killed_between_commit_and_answer_has_stored_everything(pool: PgPool) {
    let service = Proxied::start(&pool).await;
    service.submit(&[TEXT], Trap::HoldAfter).await;
    let (up, _provider, _data) = service.kill_and_start(&pool).await;
    assert_decided_once(&pool, &up).await;
}
