//! Backlogs of texts at a slow provider, with more workers, slots, requests at once and teams. While
//! a worker waits for the provider, the machine's processors do not matter: the settings decide how
//! many items get a verdict. Each row is compared with this arithmetic:
//! `items/s = min(slots that run, concurrency of the provider) / seconds of an answer`.

mod round;
mod row;
mod table;

use std::time::Duration;

use clap::Args;

pub(crate) use self::table::WorkedOff;
use self::{round::Bench, row::Row};
use crate::{
    postgres_cost::announce_workers,
    provider::Provider,
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
    texts::Texts,
};

/// The variable with the provider's key.
const KEY: &str = "BENCH_PROVIDER_KEY";
/// The table of docs/capacity.md. With as many teams as slots, all slots run.
const ROWS: &[&str] = &[
    "1/64/32/1",
    "2/64/32/1",
    "1/128/32/1",
    "1/64/64/1",
    "1/128/64/1",
    "1/64/32/64",
    "1/64/64/64",
];
/// One row for each of the things that hold jobs back.
const QUICK_ROWS: &[&str] = &["1/64/32/1", "1/128/32/1", "1/64/64/64"];
const QUICK_SECONDS: u64 = 8;
/// API processes look once a second whether workers run.
const NOTICED: Duration = Duration::from_secs(2);

/// Options of `backlog`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// What is measured: workers/`--concurrency`/the provider's `concurrency`/teams with a backlog [default: the table of
    /// docs/capacity.md]
    #[arg(long, value_delimiter = ',', value_name = "W/C/P/T")]
    rows: Vec<Row>,
    /// Milliseconds that the provider takes for each text
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    provider_ms: u32,
    /// Seconds for which each row is measured. What holds jobs back is read at the end, and is about the last ten
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Three rows of 8 seconds: shows that it works
    #[arg(long)]
    quick: bool,
}

impl Options {
    /// The rows to measure, and the seconds of each.
    fn plan(&self) -> anyhow::Result<(Vec<Row>, u64)> {
        let (rows, seconds) = if self.quick {
            (QUICK_ROWS, QUICK_SECONDS)
        } else {
            (ROWS, self.seconds)
        };
        let rows = if self.rows.is_empty() {
            rows.iter()
                .map(|row| row.parse())
                .collect::<anyhow::Result<Vec<Row>>>()?
        } else {
            self.rows.clone()
        };
        Ok((rows, seconds))
    }
}

/// Runs the measurement.
///
/// # Errors
/// It could not be carried out, or a backlog did not last.
pub(crate) async fn run(options: Options) -> anyhow::Result<WorkedOff> {
    let load_before = Machine::load_before();
    let (rows, seconds) = options.plan()?;
    let seed = options.common.seed();
    let provider_ms = options.provider_ms;
    let provider = Provider::slow(Duration::from_millis(provider_ms.into())).await?;
    let teams = rows.iter().map(|row| row.teams).max().unwrap_or(1);
    let shape = Shape {
        apis: 1,
        workers: 0,
        tenants: Tenants {
            sites: teams as usize,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners {
            careless: true,
            ..Manners::default()
        },
    };
    let surroundings = Surroundings {
        environment: vec![(KEY, "sk-bench".to_owned())],
        ..Surroundings::default()
    };
    let stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    // Without it, items that are stored before a worker runs take the long way, with more jobs.
    announce_workers(&mut conn).await?;
    tokio::time::sleep(NOTICED).await;
    let mut bench = Bench {
        stack,
        conn,
        provider,
        answers_after: Duration::from_millis(provider_ms.into()),
        seconds,
        texts: Texts::new(seed),
        submitted: 0,
        started: 0,
    };
    let mut measured = Vec::new();
    for row in rows {
        let found = bench.measure(row).await?;
        eprintln!("{row}: {found}");
        measured.push(found);
    }
    Ok(WorkedOff {
        machine,
        seed,
        provider_ms,
        rows: measured,
    })
}
