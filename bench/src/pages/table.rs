//! The results of a run, and their report.

use std::collections::BTreeMap;

use serde::Serialize;

use super::measure::{Clocks, Measured};
use crate::{
    latency::{Latencies, Percentiles},
    report::{Line, Machine, Report},
};

/// The most that the p95 of a page may take.
const LIMIT_MS: f64 = 50.0;
/// The page that asks nothing of the database, which the others are compared with.
const BASE: &str = "/sign-in";

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Pages {
    machine: Machine,
    seed: u64,
    items: u32,
    deliveries: u32,
    rounds: u32,
    fill_seconds: f64,
    database_bytes: i64,
    /// The average time of a request, by the histogram of the server and by the clock of the bench.
    server_mean_ms: f64,
    client_mean_ms: f64,
    /// The p95 of a page that asks nothing of the database.
    base_p95_ms: f64,
    limit_ms: f64,
    over_limit: usize,
    /// The slowest first.
    kinds: Vec<Row>,
    /// What links lead to that is no page.
    unmeasured: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    kind: String,
    /// The longest of its kind.
    bytes: usize,
    time: Percentiles,
    over_limit: bool,
}

impl Pages {
    pub(super) fn new(
        machine: Machine,
        seed: u64,
        (items, deliveries, rounds): (u32, u32, u32),
        (fill_seconds, database_bytes): (f64, i64),
        measured: Vec<Measured>,
        unmeasured: Vec<String>,
        clocks: Clocks,
    ) -> Self {
        let mut kinds: BTreeMap<String, (Latencies, usize)> = BTreeMap::new();
        for one in measured {
            let (latencies, bytes) = kinds
                .entry(one.page.kind)
                .or_insert_with(|| (Latencies::new(), 0));
            latencies.merge(&one.latencies);
            *bytes = one.bytes.max(*bytes);
        }
        let rows = kinds.into_iter().map(|(kind, (latencies, bytes))| {
            let time = latencies.percentiles();
            Row {
                kind,
                bytes,
                over_limit: time.p95_ms > LIMIT_MS,
                time,
            }
        });
        let mut pages: Vec<Row> = rows.collect();
        pages.sort_by(|a, b| b.time.p95_ms.total_cmp(&a.time.p95_ms));
        let base = pages.iter().find(|row| row.kind.starts_with(BASE));
        Self {
            machine,
            seed,
            items,
            deliveries,
            rounds,
            fill_seconds,
            database_bytes,
            server_mean_ms: clocks.server_ms,
            client_mean_ms: clocks.client_ms,
            base_p95_ms: base.map_or(0.0, |row| row.time.p95_ms),
            limit_ms: LIMIT_MS,
            over_limit: pages.iter().filter(|row| row.over_limit).count(),
            kinds: pages,
            unmeasured,
        }
    }
}

impl Report for Pages {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Pages of the console"),
            self.machine.line(),
            Line::fact(
                "items, deliveries",
                format!("{}, {}", self.items, self.deliveries),
            ),
            Line::fact(
                "database",
                format!(
                    "{} MiB, filled in {:.0} s",
                    self.database_bytes / 1_048_576,
                    self.fill_seconds
                ),
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::fact("rounds", self.rounds.to_string()),
            Line::fact(
                "average time",
                format!(
                    "{:.2} ms, by the server's histogram {:.2} ms",
                    self.client_mean_ms, self.server_mean_ms
                ),
            ),
            Line::fact(
                "p95 over the limit",
                format!(
                    "{} of {} kinds of pages (limit {} ms)",
                    self.over_limit,
                    self.kinds.len(),
                    self.limit_ms
                ),
            ),
            Line::heading("p50 ms, p95 ms, bytes, p95 as a multiple of the sign-in page's"),
        ];
        for row in &self.kinds {
            let Percentiles { p50_ms, p95_ms, .. } = row.time;
            let times = p95_ms / self.base_p95_ms;
            let mark = if row.over_limit { "  OVER" } else { "" };
            lines.push(Line::fact(
                &row.kind,
                format!(
                    "{p50_ms:>8.2} {p95_ms:>8.2} {:>8} {times:>6.1}{mark}",
                    row.bytes
                ),
            ));
        }
        if !self.unmeasured.is_empty() {
            lines.push(Line::heading("Links to something else, with the status"));
            for link in &self.unmeasured {
                lines.push(Line::fact(link, ""));
            }
        }
        lines
    }

    /// Whether no page takes too long.
    fn holds(&self) -> bool {
        self.over_limit == 0
    }
}
