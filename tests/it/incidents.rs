//! Prometheus reports of an incident what its victims saw. The tests compare the increase of each
//! counter, as dashboards and alerts query it, with what the clients, the receiver and the provider
//! counted. Each name begins with the number of its case in `docs/reliability.md`.

use std::time::{Duration, Instant};

use reqwest::StatusCode;
use serde_json::json;
use sqlx::PgPool;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

use crate::prometheus::Prometheus;
use crate::support::{
    Api, DataDir, FakeProvider, Mode, Receiver, SOON, Up, Worker, eventually, gatehouse, http,
    site_key,
};

/// How long Prometheus scrapes before anything happens. An increase is extrapolated to both ends of
/// its window, by up to one scrape at each end. With this many scrapes, that stays within the
/// tolerance.
const BEFORE: Duration = Duration::from_secs(25);
/// Long enough for a scrape.
const SCRAPED: Duration = Duration::from_secs(3);

/// Waits until the increase of the series that `selector` selects is `counted`, within 5 %. On a busy
/// machine, a scrape may be late. So it counts again each time: what fails is tried again meanwhile.
async fn assert_told(prometheus: &Prometheus, selector: &str, counted: impl Fn() -> usize) {
    let query = format!("sum(increase({selector}[10m]))");
    let asked = Instant::now();
    loop {
        #[expect(clippy::cast_precision_loss, reason = "some hundreds")]
        let counted = counted() as f64;
        assert!(counted > 0.0, "{selector}: nothing was counted");
        let told = prometheus.query(&query).await.unwrap();
        let is_told = |told: f64| (told - counted).abs() <= 0.05 * counted;
        if matches!(told[..], [told] if is_told(told)) {
            return;
        }
        assert!(
            asked.elapsed() < SOON,
            "{selector}: Prometheus reports {told:?}, but {counted} were counted"
        );
        sleep(Duration::from_secs(1)).await;
    }
}

/// Submits 50 texts per second while Postgres does not answer. Returns how many were refused.
async fn outage(data: &DataDir, up: &Up) -> usize {
    let (http, demo) = (http(), up.demo());
    let frozen = data.freeze_postgres();
    let mut submissions = JoinSet::new();
    for n in 0..200 {
        let body = format!("submitted in the outage ({n})");
        let submission = http
            .post(format!("{}/submit-media", demo.base_url))
            .json(&json!({ "api_key": demo.site_key, "body": body }))
            .send();
        submissions.spawn(async move { submission.await.unwrap().status().as_u16() });
        sleep(Duration::from_millis(20)).await;
    }
    drop(frozen);
    let answers = submissions.join_all().await;
    assert!(
        answers.iter().all(|status| [200, 503].contains(status)),
        "{answers:?}"
    );
    answers.iter().filter(|status| **status == 503).count()
}

/// Sends requests that cannot be read. Returns their number.
async fn nonsense(up: &Up) -> usize {
    let address = up.demo().base_url.split('/').nth(2).unwrap();
    for _ in 0..30 {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"nonsense\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }
    30
}

/// Sends more management requests than a token may. Returns how many were refused.
async fn haste(up: &Up) -> usize {
    let mut refused = 0;
    for _ in 0..60 {
        let answer = up.ask_once("/sites").await;
        refused += usize::from(answer.status() == StatusCode::TOO_MANY_REQUESTS);
    }
    refused
}

#[tokio::test(flavor = "multi_thread")]
async fn case_51_prometheus_tells_what_the_victims_of_an_incident_counted() {
    let receiver = Receiver::start().await;
    let provider = FakeProvider::openai(Mode::Well).await;
    let data = DataDir::new();
    let receiver_url = receiver.url();
    let mut options = vec!["--webhook-url", &receiver_url, "--outage-seconds", "1"];
    options.extend(["--management-requests-per-token", "20"]);
    let provider_options = provider.options();
    options.extend(provider_options.iter().map(String::as_str));
    let up = Up::start(&data, &options).await;
    let prometheus = Prometheus::scraping(&[&up.demo().metrics_url]).await;
    sleep(BEFORE).await;

    let submissions = outage(&data, &up).await;
    let unreadable = nonsense(&up).await;
    let hasty = haste(&up).await;

    // Items that were accepted around the outage are still in progress. They must not count as
    // failures.
    up.verdict(&up.submit(json!({ "body": "the last good one" })).await)
        .await;
    let well_received = eventually("quiet", SOON, async || {
        let before = receiver.received().len();
        sleep(Duration::from_secs(2)).await;
        (receiver.received().len() == before).then_some(before)
    })
    .await;
    let well_analysed = provider.asked();
    // The provider and the receiver fail until the end.
    up.leaves_jobs();
    provider.answer(Mode::Status(503));
    receiver.answer(500, Duration::ZERO);
    for n in 0..20 {
        up.submit(json!({ "body": format!("nobody takes this ({n})") }))
            .await;
    }
    // Until the provider is paused for longer than a scrape takes.
    eventually("a pause", SOON, async || {
        let before = (provider.asked(), receiver.received().len());
        sleep(SCRAPED).await;
        ((provider.asked(), receiver.received().len()) == before).then_some(())
    })
    .await;

    let submit = "route=\"/functions/v1/submit-media\"";
    for (selector, counted) in [
        (
            "gatehouse_accept_rejected_total{reason=\"unavailable\"}",
            submissions,
        ),
        (
            &format!("gatehouse_http_requests_total{{{submit}, code_class=\"5xx\"}}"),
            submissions,
        ),
        (
            "gatehouse_http_unreadable_requests_total{code=\"invalid_request\"}",
            unreadable,
        ),
        (
            "gatehouse_rate_limited_total{policy=\"management_token\"}",
            hasty,
        ),
    ] {
        assert_told(&prometheus, selector, || counted).await;
    }
    assert_told(&prometheus, "gatehouse_provider_errors_total", || {
        provider.asked() - well_analysed
    })
    .await;
    let attempts = "gatehouse_webhook_attempts_total{outcome=\"status\"}";
    assert_told(&prometheus, attempts, || {
        receiver.received().len() - well_received
    })
    .await;
}

#[sqlx::test(migrations = false)]
async fn case_51_prometheus_tells_how_many_jobs_a_killed_worker_held(pool: PgPool) {
    let key = site_key(&pool);
    let provider = FakeProvider::openai(Mode::Hang).await;
    let worker = async |queues| {
        let mut command = gatehouse(&pool);
        command
            .envs(provider.variables())
            .env("GATEHOUSE_OPENAI_API_KEY", FakeProvider::KEY)
            // A worker that waits for its turn on a busy machine keeps its lease.
            .env("GATEHOUSE_LEASE_SECONDS", "6")
            .env("GATEHOUSE_QUEUES", queues);
        Worker::launch(command).await
    };
    let api = Api::start(&pool).await;
    let survivor = worker("rules,webhooks").await;
    // It does not run the queue `analysis`, so nobody finishes the jobs of the killed worker.
    survivor.leaves_jobs();
    let prometheus = Prometheus::scraping(&[&api.metrics_url, &survivor.metrics_url]).await;
    sleep(BEFORE).await;

    let doomed = worker("analysis").await;
    let mut items = Vec::new();
    for n in 0..12 {
        let body = format!("held by the worker that dies ({n})");
        let submission = json!({ "api_key": key, "body": body });
        let (status, answer) = api.post("submit-media", None, &submission).await.unwrap();
        assert_eq!(status, 200, "{answer}");
        items.push(answer["id"].as_str().unwrap().to_owned());
    }
    until_running(&pool, items.len()).await;
    doomed.kill();
    until_running(&pool, 0).await;
    sleep(SCRAPED).await;

    // Either process may have rescued them.
    let held = items.len();
    assert_told(&prometheus, "gatehouse_jobs_rescued_total", || held).await;
    let lost = "gatehouse_job_retries_total{reason=\"worker_lost\"}";
    assert_told(&prometheus, lost, || held).await;
}

/// Waits until this many analyses are running.
async fn until_running(pool: &PgPool, jobs: usize) {
    eventually("analyses under way, or none", SOON, async || {
        let running: i64 = sqlx::query_scalar(
            "select count(*) from queue.jobs where queue = 'analysis' and state = 1",
        )
        .fetch_one(pool)
        .await
        .unwrap();
        (usize::try_from(running) == Ok(jobs)).then_some(())
    })
    .await;
}
