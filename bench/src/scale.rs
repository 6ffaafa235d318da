//! An autoscaler with the arithmetic of KEDA and the HPA starts and stops worker processes by what
//! the processes show on `/metrics`, while the load rises and falls. Nothing may get lost, and the
//! number of workers may not swing. A second scene has thousands of deliveries for one slow
//! endpoint: more workers cannot help it, so there must be no more workers.

mod autoscaler;
mod capped_endpoint;
mod control_loop;
mod gauges;
mod load_steps;
mod table;

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

pub(crate) use self::table::Scaled;
use self::{autoscaler::Policy, control_loop::Clock};
use crate::{report::Machine, stack::CommonOptions};

/// Options of `scale`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Submissions a second while the load is low
    #[arg(long, default_value_t = 8.0)]
    low: f64,
    /// Submissions a second while the load is high
    #[arg(long, default_value_t = 60.0)]
    high: f64,
    /// Seconds of the three steps: low, high, low
    #[arg(long, value_delimiter = ',', default_values_t = [20, 75, 100])]
    seconds: Vec<u64>,
    /// Seconds of the scene with the slow endpoint
    #[arg(long, default_value_t = 45)]
    capped_seconds: u64,
    /// Deliveries that wait for the slow endpoint
    #[arg(long, default_value_t = 8_000)]
    capped_deliveries: u32,
    /// Jobs of each queue that a worker runs at once
    #[arg(long, default_value_t = 8)]
    concurrency: usize,
    /// Milliseconds that the provider takes for each text
    #[arg(long, default_value_t = 400)]
    provider_ms: u64,
    /// What the autoscaler looks at
    #[arg(long, value_enum, default_value_t = Signal::Demand)]
    signal: Signal,
    /// The most workers
    #[arg(long, default_value_t = 6)]
    max_workers: usize,
    /// Seconds between two looks at the metrics
    #[arg(long, default_value_t = 5)]
    poll_seconds: u64,
    /// For so many seconds, the highest recommendation counts before workers are stopped
    #[arg(long, default_value_t = 45)]
    window_seconds: u64,
    /// The same in 50 seconds: shows that it works
    #[arg(long)]
    quick: bool,
}

/// What the autoscaler looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Signal {
    /// Runnable and running jobs divided by slots, and the lag of jobs that could run
    Demand,
    /// Runnable jobs divided by slots, and the lag of all due jobs
    Backlog,
}

impl Options {
    /// The whole at a fraction of its length.
    fn shortened(self) -> Self {
        if !self.quick {
            return self;
        }
        Self {
            seconds: vec![4, 16, 20],
            capped_seconds: 12,
            capped_deliveries: 2_000,
            poll_seconds: 2,
            window_seconds: 8,
            ..self
        }
    }

    const fn clock(&self) -> Clock {
        Clock {
            poll: Duration::from_secs(self.poll_seconds),
            signal: self.signal,
        }
    }

    fn policy(&self) -> Policy {
        Policy {
            least: 1,
            most: self.max_workers,
            window: Duration::from_secs(self.window_seconds),
            // As a hundred percent or four pods of the HPA, and one at a time downwards.
            up: (4, Duration::from_secs(3 * self.poll_seconds)),
            down: (1, Duration::from_secs(2 * self.poll_seconds)),
        }
    }
}

/// Runs both scenes.
///
/// # Errors
/// They could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Scaled> {
    let load_before = Machine::load_before();
    let options = options.shortened();
    anyhow::ensure!(
        options.seconds.len() == 3,
        "--seconds needs three numbers, such as 20,75,100"
    );
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let steps = load_steps::play(&options, seed, load_before).await?;
    let capped = capped_endpoint::play(&options, seed).await?;
    Ok(Scaled { steps, capped })
}
