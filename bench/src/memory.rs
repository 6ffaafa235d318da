//! Whether an API process keeps its size: its resident memory, sampled every second while it accepts submissions for many
//! sites as fast as it can.
//!
//! It is flat when the median of the last fifth of the samples is at most a tenth above the median
//! of the first fifth. By then all sites are known and all buffers have been used, so memory that
//! still grows will not stop growing.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Serialize;

use crate::{
    latency::{Percentiles, median},
    load::{self, Extent},
    postgres_cost::{Traces, empty_tables},
    procfs,
    receiver::Manners,
    report::{Line, Machine, Report},
    requests::Requests,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
    submit::{SITES_PER_TEAM, TYPICAL_BYTES},
    texts::Texts,
};

const EVERY: Duration = Duration::from_secs(1);
/// The largest permitted ratio of the last part to the first.
const FLAT: f64 = 1.1;

/// Options of `memory`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Seconds of load
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// Connections that submit
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Sites that take turns, ten to a team
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    sites: u32,
    /// Five seconds and 100 sites: shows that it works, not whether it is flat
    #[arg(long)]
    quick: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    machine: Machine,
    seed: u64,
    sites: usize,
    connections: usize,
    /// Accepted submissions a second.
    rate: f64,
    latency: Percentiles,
    /// Mebibytes, before the first request.
    idle_mib: f64,
    /// One a second.
    samples_mib: Vec<f64>,
    summary: Summary,
}

/// Resident memory in mebibytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Summary {
    /// Median of the first fifth of the samples.
    first: f64,
    /// Median of the last fifth.
    last: f64,
    most: f64,
    is_flat: bool,
}

/// Runs the measurement.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Measured> {
    if options.quick {
        (options.seconds, options.sites) = (5, 100);
    }
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape {
        apis: 1,
        workers: 0,
        tenants: Tenants {
            sites: options.sites.try_into()?,
            sites_per_team: SITES_PER_TEAM,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let texts = Texts::new(seed);
    let text = |number| texts.plain(number, TYPICAL_BYTES);
    let requests = Requests::submissions(&stack.sites, true, text);
    let (api, connections) = (&stack.apis[0], options.connections);
    let pid = api.pid().context("the API has ended")?;
    let idle_mib = resident_mib(pid)?;

    // Every site once, so that the filling of the cache is not measured.
    let warm_up = Extent::Of(requests.len() as u64);
    load::closed(api.address, &requests, connections, warm_up).await?;
    empty_tables(&mut conn).await?;
    eprintln!("submitting for {} seconds", options.seconds);
    let extent = Extent::Lasting(Duration::from_secs(options.seconds));
    let load = load::closed(api.address, &requests, connections, extent);
    let mut samples_mib = Vec::new();
    let throughput = tokio::select! {
        throughput = load => throughput?,
        never = sample(pid, &mut samples_mib) => never?,
    };
    let traces = Traces {
        // No worker lives.
        short: false,
        submissions: throughput.answered,
        named: true,
    };
    traces.expect(&mut conn).await?;
    Ok(Measured {
        machine,
        seed,
        sites: stack.sites.len(),
        connections,
        rate: throughput.rate(),
        latency: throughput.latencies.percentiles(),
        idle_mib,
        summary: summarise(&samples_mib)?,
        samples_mib,
    })
}

/// Samples until it is dropped.
async fn sample<T>(pid: u32, samples: &mut Vec<f64>) -> anyhow::Result<T> {
    let mut ticks = tokio::time::interval(EVERY);
    loop {
        ticks.tick().await;
        samples.push(resident_mib(pid)?);
    }
}

fn resident_mib(pid: u32) -> anyhow::Result<f64> {
    Ok(procfs::Usage::read(pid)?.resident_mib)
}

fn summarise(samples: &[f64]) -> anyhow::Result<Summary> {
    let fifth = samples.len() / 5;
    ensure!(fifth > 0, "{} samples are too few", samples.len());
    let first = median(samples[..fifth].iter().copied());
    let last = median(samples[samples.len() - fifth..].iter().copied());
    Ok(Summary {
        first,
        last,
        most: samples.iter().copied().fold(0.0, f64::max),
        is_flat: last <= first * FLAT,
    })
}

impl Report for Measured {
    fn lines(&self) -> Vec<Line> {
        let mib = |mib: f64| format!("{mib:.1} MiB");
        let Summary {
            first,
            last,
            most,
            is_flat,
        } = self.summary;
        vec![
            Line::heading("Resident memory of an API process at full speed"),
            self.machine.line(),
            Line::fact("sites in turn", self.sites.to_string()),
            Line::fact("seed", self.seed.to_string()),
            Line::fact(
                format!("accepted, {} connections", self.connections),
                format!("{:.0}/s ({})", self.rate, self.latency),
            ),
            Line::fact("before the first request", mib(self.idle_mib)),
            Line::fact("median of the first fifth", mib(first)),
            Line::fact("median of the last fifth", mib(last)),
            Line::fact("most", mib(most)),
            Line::fact(
                "samples, a second apart",
                self.samples_mib.len().to_string(),
            ),
            Line::fact(
                format!("flat: the last at most {FLAT} times the first"),
                if is_flat { "yes" } else { "no" },
            ),
        ]
    }

    /// Whether the memory is flat.
    fn holds(&self) -> bool {
        self.summary.is_flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_goes_on_growing_is_not_flat() {
        let growing: Vec<f64> = (0..300)
            .map(|second| 100.0 + f64::from(second) / 10.0)
            .collect();
        let summary = summarise(&growing).unwrap();
        assert!(!summary.is_flat, "{summary:?}");
        assert!((summary.most - 129.9).abs() < 1e-9, "{summary:?}");
    }

    #[test]
    fn a_moment_of_much_memory_is_told_and_forgiven() {
        let mut samples = vec![100.0; 300];
        samples[150] = 180.0;
        let summary = summarise(&samples).unwrap();
        assert!(summary.is_flat, "{summary:?}");
        assert!((summary.most - 180.0).abs() < 1e-9, "{summary:?}");
    }
}
