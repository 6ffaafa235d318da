//! What items cost outside of SQL: processor time of each kind of process, and bytes in tables and
//! indexes.

use std::time::Duration;

use serde::Serialize;
use sqlx::{PgConnection, Row as _};

use crate::{
    procfs::{family_time, processor_time},
    report::Line,
    stack::Stack,
};

/// Of each item.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Resources {
    api_us: f64,
    worker_us: f64,
    postgres_us: f64,
    /// The largest tables: name, bytes of the table with its TOAST, bytes of its indexes.
    tables: Vec<(String, f64, f64)>,
}

/// Processor time so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Used {
    api: Duration,
    worker: Duration,
    postgres: Duration,
}

impl Used {
    /// Reads all processes.
    pub(super) fn read(stack: &Stack) -> anyhow::Result<Self> {
        let sum = |processes: &[crate::processes::Process]| -> anyhow::Result<Duration> {
            let pids = processes.iter().filter_map(crate::processes::Process::pid);
            pids.map(processor_time).sum()
        };
        let postgres = stack.environment.cluster.pid();
        Ok(Self {
            api: sum(&stack.apis)?,
            worker: sum(&stack.workers)?,
            postgres: postgres.map_or(Ok(Duration::ZERO), family_time)?,
        })
    }
}

impl Resources {
    /// Since the tables were empty and `before` was read.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(super) async fn since(
        before: Used,
        stack: &Stack,
        conn: &mut PgConnection,
        items: u64,
    ) -> anyhow::Result<Self> {
        let now = Used::read(stack)?;
        let each = items.max(1) as f64;
        let micros =
            |now: Duration, before: Duration| now.saturating_sub(before).as_secs_f64() * 1e6 / each;
        let rows = sqlx::query(
            "
            select
                oid::regclass::text as name, pg_table_size(oid)::float8 as bytes,
                pg_indexes_size(oid)::float8 as indexes
            from pg_class
            where relkind = 'r' and relnamespace in ('public'::regnamespace, 'queue'::regnamespace)
            order by pg_total_relation_size(oid) desc
            limit 8
            ",
        )
        .fetch_all(conn)
        .await?;
        let tables = rows.iter().map(|row| {
            let share = |column| row.get::<f64, _>(column) / each;
            (row.get("name"), share("bytes"), share("indexes"))
        });
        Ok(Self {
            api_us: micros(now.api, before.api),
            worker_us: micros(now.worker, before.worker),
            postgres_us: micros(now.postgres, before.postgres),
            tables: tables.collect(),
        })
    }

    /// Processor time of an item in all processes, in microseconds.
    pub(super) fn total_us(&self) -> f64 {
        self.api_us + self.worker_us + self.postgres_us
    }

    pub(super) fn lines(&self) -> Vec<Line> {
        let Self {
            api_us,
            worker_us,
            postgres_us,
            tables,
        } = self;
        let mut lines = vec![Line::fact(
            "processor time per item",
            format!("API {api_us:.0} µs, worker {worker_us:.0} µs, Postgres {postgres_us:.0} µs"),
        )];
        lines.extend(tables.iter().map(|(name, bytes, indexes)| {
            Line::fact(
                format!("bytes per item in {name}"),
                format!("{bytes:.0}, and {indexes:.0} in indexes"),
            )
        }));
        lines
    }
}
