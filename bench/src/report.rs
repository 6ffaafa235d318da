//! The report of a run: a table for people or JSON for programs, on standard output. Progress goes
//! to standard error.

use std::fs;

use serde::Serialize;
use sqlx::PgConnection;

use crate::postgres_cost::Cost;

/// A finished run.
pub(crate) trait Report: Serialize {
    /// The lines of the table.
    fn lines(&self) -> Vec<Line>;

    /// Whether what the run proves holds. A run that only measures holds.
    fn holds(&self) -> bool {
        true
    }
}

/// A line of the table.
#[derive(Clone, Debug)]
pub(crate) enum Line {
    /// The heading of the lines below it.
    Heading(String),
    /// A name and its value.
    Fact(String, String),
}

impl Line {
    pub(crate) fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into())
    }

    pub(crate) fn fact(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self::Fact(name.into(), value.into())
    }
}

/// Prints a report.
pub(crate) fn print(report: &impl Report, json: bool) -> anyhow::Result<()> {
    println!("{}", text(report, json)?);
    Ok(())
}

/// A report as it is printed, without the last line break.
pub(crate) fn text(report: &impl Report, json: bool) -> anyhow::Result<String> {
    if json {
        return Ok(serde_json::to_string_pretty(report)?);
    }
    let lines = report.lines();
    let widths = lines.iter().map(|line| match line {
        Line::Heading(_) => 0,
        Line::Fact(name, _) => name.chars().count(),
    });
    let width = widths.max().unwrap_or(0);
    let lines = lines.iter().map(|line| match line {
        Line::Heading(text) => format!("\n{text}"),
        Line::Fact(name, value) => format!("  {name:width$}  {value}"),
    });
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// The machine that it ran on.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) cores: usize,
    pub(crate) postgres: String,
    /// The load average over the last minute before the run. If it is more than a few tenths,
    /// something else was running, and the figures are affected by it.
    pub(crate) load_before: f64,
}

impl Machine {
    /// Call it before anything is started.
    pub(crate) fn load_before() -> f64 {
        let told = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = told
            .split(' ')
            .next()
            .and_then(|word| word.parse().ok())
            .unwrap_or(0.0);
        if load > 0.5 {
            eprintln!(
                "the load average is {load}: something else is running, so figures will be void"
            );
        }
        load
    }

    pub(crate) async fn describe(
        conn: &mut PgConnection,
        load_before: f64,
    ) -> anyhow::Result<Self> {
        let postgres = sqlx::query_scalar("select current_setting('server_version')")
            .fetch_one(conn)
            .await?;
        let cores = std::thread::available_parallelism()?.get();
        Ok(Self {
            cores,
            postgres,
            load_before,
        })
    }

    /// As a line of a table.
    pub(crate) fn line(&self) -> Line {
        let Self {
            cores,
            postgres,
            load_before,
        } = self;
        Line::fact(
            "machine",
            format!("{cores} cores, PostgreSQL {postgres}, load average before: {load_before}"),
        )
    }
}

/// A ratio, and the least that it should be.
pub(crate) fn against_goal(ratio: f64, goal: f64) -> String {
    let verdict = if ratio >= goal { "met" } else { "missed" };
    format!("{ratio:.3} (goal {goal}: {verdict})")
}

/// The lines about what an item cost.
pub(crate) fn cost_lines(cost: &Cost) -> Vec<Line> {
    let mut lines = vec![
        Line::fact(
            "SQL statements per item",
            format!("{:.3}", cost.statements_per_item),
        ),
        Line::fact("claims per item", format!("{:.3}", cost.claims_per_item)),
        Line::fact(
            "WAL bytes per item",
            format!("{:.0}", cost.wal_bytes_per_item),
        ),
    ];
    lines.extend(cost.statements.iter().map(|statement| {
        let name = format!("  {:.4} per item", statement.calls_per_item);
        Line::fact(
            name,
            format!("{:.3} ms  {}", statement.mean_ms, statement.text),
        )
    }));
    lines
}
