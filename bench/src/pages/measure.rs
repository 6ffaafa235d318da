//! Asks for all pages in rounds, each page once in a round.

use std::time::Duration;

use anyhow::ensure;

use super::{browser::Browser, crawl::Page};
use crate::{latency::Latencies, processes::Process};

/// The histogram of the server.
const DURATION: &str = "gatehouse_http_request_duration_seconds";

/// A page, by whom it is asked for, and how long that took.
pub(super) struct Measured {
    browser: usize,
    pub(super) page: Page,
    pub(super) latencies: Latencies,
    pub(super) bytes: usize,
}

impl Measured {
    pub(super) fn new(browser: usize, page: Page) -> Self {
        Self {
            browser,
            page,
            latencies: Latencies::new(),
            bytes: 0,
        }
    }
}

/// How long the measured requests took on average, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clocks {
    pub(super) server_ms: f64,
    pub(super) client_ms: f64,
}

/// Asks for every page in every round.
///
/// # Errors
/// A page is not shown.
pub(super) async fn rounds(
    browsers: &mut [Browser],
    pages: &mut [Measured],
    (warm_ups, rounds): (u32, u32),
    server: &Process,
) -> anyhow::Result<Clocks> {
    let mut requests = 0_u32;
    let mut spent = Duration::ZERO;
    let mut before = (0.0, 0.0);
    for round in 0..warm_ups + rounds {
        if round == warm_ups {
            before = of_server(server).await?;
        }
        for measured in pages.iter_mut() {
            let path = &measured.page.path;
            let answered = browsers[measured.browser].open(path).await?;
            ensure!(
                answered.status == 200,
                "{path} was answered with {}",
                answered.status
            );
            measured.bytes = answered.body.len();
            if round >= warm_ups {
                measured.latencies.record(answered.took);
                requests += 1;
                spent += answered.took;
            }
        }
        if round % 10 == 0 {
            eprintln!("round {round} of {}", warm_ups + rounds);
        }
    }
    let after = of_server(server).await?;
    Ok(Clocks {
        server_ms: 1_000.0 * (after.0 - before.0) / (after.1 - before.1),
        client_ms: 1_000.0 * spent.as_secs_f64() / f64::from(requests),
    })
}

/// Seconds and requests so far, by the server's histogram.
async fn of_server(server: &Process) -> anyhow::Result<(f64, f64)> {
    Ok((
        server.metric(&format!("{DURATION}_sum"), "GET").await?,
        server.metric(&format!("{DURATION}_count"), "GET").await?,
    ))
}
