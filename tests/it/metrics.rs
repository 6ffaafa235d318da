//! What fresh processes show on `/metrics`, and who reports on the whole database.

mod expected;
mod named_series;
mod page;

use std::{
    collections::BTreeSet,
    fs,
    process::Command,
    time::{Duration, Instant},
};

use sqlx::PgPool;
use store::schema;
use tokio::time::sleep;

use crate::support::{Api, SOON, Worker, eventually, gatehouse};
use expected::{COUNTERS, LATER, Process, series};
use named_series::asked;
use page::Page;

/// A gauge of the queues, and two of the database, that only reporting processes have.
const FOR_ALL: [&str; 3] = [
    "gatehouse_queue_stats_timestamp_seconds",
    "gatehouse_webhook_endpoints",
    // The last one of a round.
    "gatehouse_dead_tuples",
];

#[sqlx::test(migrations = false)]
async fn every_counter_starts_at_0_with_each_value_that_its_labels_can_have(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let api = Api::start(&pool).await;
    let worker = Worker::launch(gatehouse(&pool)).await;
    // The statistics begin at once and run every minute.
    worker.leaves_jobs();
    let later = LATER.into_iter().map(str::to_owned).collect();
    let expected: BTreeSet<String> = described().difference(&later).cloned().collect();
    // Each part of a process shows its own when it has begun.
    let begun = Instant::now();
    let (api, worker, shown) = loop {
        let api = until_it_reports(&api.metrics_url).await;
        let worker = until_it_reports(&worker.metrics_url).await;
        let shown: BTreeSet<String> = api.names().union(&worker.names()).cloned().collect();
        if shown == expected || begun.elapsed() > SOON {
            break (api, worker, shown);
        }
        sleep(Duration::from_millis(100)).await;
    };

    let mut wrong = Vec::new();
    for (process, page) in [(Process::Api, &api), (Process::Worker, &worker)] {
        let known: BTreeSet<&str> = COUNTERS.iter().map(|counter| counter.name).collect();
        for name in &known {
            let (expected, shown) = (series(name, process), page.series(name));
            for series in expected.symmetric_difference(&shown) {
                wrong.push(format!("{process:?}: {name}{series:?}"));
            }
        }
        let others = page.of_type("counter").into_iter().filter(|name| {
            !known.contains(name.as_str())
                && !LATER.contains(&name.as_str())
                && !name.starts_with("process_")
                && name != "gatehouse_http_requests_total"
        });
        wrong.extend(others.map(|name| format!("{process:?}: nothing is expected of {name}")));
    }
    assert!(
        wrong.is_empty(),
        "missing or unexpected:\n{}",
        wrong.join("\n")
    );

    for (route, method) in [
        ("/functions/v1/submit-media", "POST"),
        ("/functions/v1/get-media-status", "GET"),
        ("/management/v1/teams/{team_id}", "PATCH"),
    ] {
        let shown = api.values(
            "gatehouse_http_requests_total",
            "code_class",
            &[("route", route), ("method", method)],
        );
        assert_eq!(shown, ["2xx", "4xx", "5xx"], "{method} {route}");
    }

    let pages = [&api, &worker];
    let missing: Vec<_> = asked()
        .into_iter()
        .filter(|asked| !LATER.contains(&asked.name.as_str()))
        .filter(|asked| {
            !pages
                .iter()
                .any(|page| page.answers(&asked.name, &asked.labels))
        })
        .collect();
    assert!(
        missing.is_empty(),
        "alerts or dashboards ask for what fresh processes do not show: {missing:#?}"
    );

    assert_eq!(expected, shown, "docs/operations.md lists what is shown");
}

#[sqlx::test(migrations = false)]
async fn when_a_reporting_process_is_killed_the_other_goes_on_and_a_third_joins(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let short_lease = || -> Command {
        let mut command = gatehouse(&pool);
        command.env("GATEHOUSE_LEASE_SECONDS", "3");
        command
    };
    let eldest = Worker::launch(short_lease()).await;
    until_it_reports(&eldest.metrics_url).await;
    let api = Api::start(&pool).await;
    until_it_reports(&api.metrics_url).await;
    let youngest = Worker::launch(short_lease()).await;
    youngest.leaves_jobs();
    eventually("its heartbeat", SOON, async || {
        let page = Page::read(&youngest.metrics_url).await;
        page.has("gatehouse_worker_heartbeat_timestamp_seconds")
            .then_some(())
    })
    .await;
    let page = Page::read(&youngest.metrics_url).await;
    assert!(FOR_ALL.iter().all(|gauge| !page.has(gauge)));

    eldest.kill();
    eventually("the youngest reports", SOON, async || {
        let page = Page::read(&api.metrics_url).await;
        assert!(
            FOR_ALL.iter().all(|gauge| page.has(gauge)),
            "nobody reports"
        );
        let page = Page::read(&youngest.metrics_url).await;
        FOR_ALL.iter().all(|gauge| page.has(gauge)).then_some(())
    })
    .await;
}

/// Waits until a process shows the gauges about the whole database. Returns its page.
async fn until_it_reports(url: &str) -> Page {
    eventually("a process that reports", SOON, async || {
        let page = Page::read(url).await;
        FOR_ALL.iter().all(|gauge| page.has(gauge)).then_some(page)
    })
    .await
}

/// The metrics in the table of `docs/operations.md`.
fn described() -> BTreeSet<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operations.md");
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split(", "));
    let names = names.filter_map(|name| name.strip_prefix('`')?.strip_suffix('`'));
    names
        .filter(|name| name.starts_with("gatehouse_") || name.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}
