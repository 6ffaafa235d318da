//! What holds a backlog back is named: by a metric, and by `gatehouse queue status` with the setting
//! to change.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::{
    Api, FakeProvider, Mode, Panel, Receiver, SOON, Site, Worker, admin, eventually, gatehouse,
    http, new_site, run,
};

const HOUR: Duration = Duration::from_hours(1);
/// A provider that takes this long works for minutes on the items of a test.
const SLOW: Mode = Mode::Slow(Duration::from_secs(2));

/// An interface, a slow provider, and a team with a backlog. No worker runs yet.
struct Backlog {
    panel: Panel,
    pool: PgPool,
    _provider: FakeProvider,
}

impl Backlog {
    async fn new(pool: PgPool, mode: Mode, members: &str) -> Self {
        let provider = FakeProvider::openai(mode).await;
        let entries = [provider.entry("openai", members)];
        let panel = Panel::start(&pool, 0, &entries, HOUR, &["violence"]).await;
        let key = panel.site("site", json!({})).await;
        for _ in 0..150 {
            panel.submit(&key, "a quiet afternoon").await;
        }
        Self {
            panel,
            pool,
            _provider: provider,
        }
    }

    /// A worker with so many slots for each queue.
    async fn worker(&self, slots: u32) -> Worker {
        let mut command = self.panel.gatehouse();
        command.env("GATEHOUSE_CONCURRENCY", slots.to_string());
        let worker = Worker::launch(command).await;
        // The test ends long before the backlog does.
        worker.leaves_jobs();
        worker
    }
}

/// Waits until a worker's metric and `gatehouse queue status` name what holds a queue back, and
/// checks that the latter names the setting.
async fn until_bound(pool: &PgPool, worker: &Worker, queue: &str, by: &str, setting: &str) {
    let what = format!("{queue} is held back by {by}");
    eventually(&what, SOON, async || {
        let is_named = named(pool, queue) == by;
        (is_named && seconds(worker, queue, by).await >= Some(1.0)).then_some(())
    })
    .await;
    let line = eventually("the line for people", SOON, async || {
        let text = String::from_utf8(run(pool, &["queue", "status"])).unwrap();
        let start = format!("{queue}: {by}, ");
        let line = text.lines().find(|line| line.starts_with(&start));
        line.map(str::to_owned)
    })
    .await;
    assert!(line.contains(setting), "{line}");
}

/// What `gatehouse queue status` says holds a queue back.
fn named(pool: &PgPool, queue: &str) -> Value {
    let status = run(pool, &["queue", "--json", "status"]);
    let status: Value = serde_json::from_slice(&status).unwrap();
    let queues = status["queues"].as_array().unwrap();
    let found = queues.iter().find(|found| found["queue"] == queue);
    found.unwrap()["bound"]["by"].clone()
}

/// For how many seconds a worker's jobs were held back by something. `None`: this part of the worker, which is ready, has not begun.
async fn seconds(worker: &Worker, queue: &str, by: &str) -> Option<f64> {
    let labels = [("queue", queue), ("by", by)];
    counted(worker, "gatehouse_queue_bound_seconds_total", &labels).await
}

/// The value of a worker's counter, if it is shown.
async fn counted(worker: &Worker, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
    let page = http().get(&worker.metrics_url).send().await.unwrap();
    let page = page.text().await.unwrap();
    let start = format!("{name}{{");
    let has = |line: &str, (label, value): &(&str, &str)| {
        let part = format!("{label}=\"{value}\"");
        line.contains(&part)
    };
    let line = page
        .lines()
        .find(|line| line.starts_with(&start) && labels.iter().all(|label| has(line, label)));
    let (_, value) = line?.rsplit_once(' ').unwrap();
    Some(value.parse().unwrap())
}

#[sqlx::test(migrations = false)]
async fn a_team_that_has_half_of_the_slots_is_held_back_by_its_share(pool: PgPool) {
    let backlog = Backlog::new(pool, SLOW, "").await;
    let worker = backlog.worker(8).await;
    let setting = "Raise --concurrency, and `concurrency` of the provider";
    until_bound(&backlog.pool, &worker, "analysis", "team_share", setting).await;
    for other in ["slots", "provider_limit", "cap"] {
        let seconds = seconds(&worker, "analysis", other).await.unwrap();
        assert!(seconds < 1.0, "{other}: {seconds}");
    }
}

#[sqlx::test(migrations = false)]
async fn a_worker_whose_slots_are_all_taken_is_held_back_by_them(pool: PgPool) {
    let backlog = Backlog::new(pool, SLOW, "").await;
    let worker = backlog.worker(1).await;
    let setting = "All slots are taken. Raise --concurrency";
    until_bound(&backlog.pool, &worker, "analysis", "slots", setting).await;
}

#[sqlx::test(migrations = false)]
async fn a_provider_that_gets_one_request_at_once_holds_back_whatever_the_slots(pool: PgPool) {
    // Four jobs at once: the last of them waits for less than the two seconds after which it would go back to the queue. So only
    // those that wait in their slots can tell.
    let mode = Mode::Slow(Duration::from_millis(500));
    let backlog = Backlog::new(pool, mode, "concurrency = 1").await;
    let worker = backlog.worker(8).await;
    let setting = "Raise `concurrency` in the file of providers";
    until_bound(
        &backlog.pool,
        &worker,
        "analysis",
        "provider_limit",
        setting,
    )
    .await;
}

#[sqlx::test(migrations = false)]
async fn a_provider_that_limits_requests_holds_back_while_it_is_paused(pool: PgPool) {
    let backlog = Backlog::new(pool, Mode::Limited("600"), "").await;
    let worker = backlog.worker(8).await;
    let paused = "it is paused (gatehouse_provider_paused)";
    until_bound(&backlog.pool, &worker, "analysis", "provider_limit", paused).await;
}

#[sqlx::test(migrations = false)]
async fn a_capped_lane_is_held_back_by_its_cap(pool: PgPool) {
    let backlog = Backlog::new(pool, SLOW, "").await;
    let lane: String =
        sqlx::query_scalar("select lane::text from queue.jobs where queue = 'analysis' limit 1")
            .fetch_one(&backlog.pool)
            .await
            .unwrap();
    let cap = ["queue", "cap", "--queue", "analysis", "--lane", &lane, "2"];
    run(&backlog.pool, &cap);
    let worker = backlog.worker(8).await;
    let setting = "Raise the cap with `gatehouse queue cap`";
    until_bound(&backlog.pool, &worker, "analysis", "cap", setting).await;
}

/// A site whose only endpoint is this receiver.
fn site_with(pool: &PgPool, receiver: &Receiver) -> Site {
    let site = new_site(pool);
    let (url, allowed) = (receiver.url(), receiver.allowed());
    let endpoint = ["create-endpoint", "--site", &site.id, "--url", &url];
    admin(
        pool,
        &[&endpoint[..], &["--egress-allow", &allowed]].concat(),
    );
    site
}

/// A worker with so many slots, which has two webhooks to send for each of 60 items.
async fn with_webhooks(pool: &PgPool, site: &Site, receiver: &Receiver, slots: u32) -> Worker {
    let api = Api::start(pool).await;
    let mut command = gatehouse(pool);
    command
        .env("GATEHOUSE_EGRESS_ALLOW", receiver.allowed())
        .env("GATEHOUSE_CONCURRENCY", slots.to_string());
    let worker = Worker::launch(command).await;
    // The test ends before all webhooks are sent.
    worker.leaves_jobs();
    for _ in 0..60 {
        let fields = json!({ "api_key": site.key, "body": "a fine day" });
        let (status, answer) = api.post("submit-media", None, &fields).await.unwrap();
        assert_eq!(status, 200, "{answer}");
    }
    worker
}

#[sqlx::test(migrations = false)]
async fn an_endpoint_with_a_limit_a_second_holds_back_its_webhooks(pool: PgPool) {
    let receiver = Receiver::start().await;
    let site = site_with(&pool, &receiver);
    sqlx::query("update webhook_endpoints set max_per_second = 1")
        .execute(&pool)
        .await
        .unwrap();
    let worker = with_webhooks(&pool, &site, &receiver, 8).await;
    let setting = "Its owner can raise `max_per_second`";
    until_bound(&pool, &worker, "webhooks", "endpoint_pace", setting).await;
}

#[sqlx::test(migrations = false)]
async fn webhooks_that_wait_for_a_place_are_held_back_by_their_teams_share(pool: PgPool) {
    let receiver = Receiver::start().await;
    // A request that takes 200 ms is slow, and its job leaves its place.
    receiver.answer(200, Duration::from_millis(120));
    let site = site_with(&pool, &receiver);
    // Two places, of which a team may have one.
    let worker = with_webhooks(&pool, &site, &receiver, 1).await;
    let setting = "All places are taken, or a team has all that it may have";
    until_bound(&pool, &worker, "webhooks", "team_share", setting).await;
}

#[sqlx::test(migrations = false)]
async fn claims_that_wait_for_a_lock_are_held_back_by_the_database(pool: PgPool) {
    let backlog = Backlog::new(pool, Mode::Well, "").await;
    let mut other = backlog.pool.begin().await.unwrap();
    // Claims write, and `queue status` only reads.
    sqlx::query("lock table queue.jobs in share mode")
        .execute(&mut *other)
        .await
        .unwrap();
    let begun = Instant::now();
    let worker = backlog.worker(8).await;
    eventually("a claim that waits is noticed", SOON, async || {
        (seconds(&worker, "analysis", "database").await >= Some(1.0)).then_some(())
    })
    .await;
    // It fails only after ten seconds, which may have passed on a busy machine.
    for class in ["55", "io"] {
        let counted = counted(&worker, "gatehouse_db_errors_total", &[("class", class)]).await;
        let failed = counted.unwrap();
        let after = begun.elapsed();
        assert!(
            failed < 1.0 || after > Duration::from_secs(10),
            "{class}: {failed} after {after:?}"
        );
    }
    let setting = "raise --database-connections";
    until_bound(&backlog.pool, &worker, "analysis", "database", setting).await;
    other.rollback().await.unwrap();
    eventually("claims work again", SOON, async || {
        named(&backlog.pool, "analysis").is_null().then_some(())
    })
    .await;
}
