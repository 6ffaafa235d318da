//! Load generator, side-by-side benchmarks and the chaos proof of Gatehouse. Not shipped.
//!
//! Each command except `rules`, `images`, `models` and `quality` makes its own Postgres cluster with durable settings,
//! starts the measured system on it, measures or proves something, and removes everything. This
//! program runs on one thread and the drivers are separate processes, so that the measured system
//! has the machine for itself.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report and its progress are what this program is for"
)]

mod backlog;
mod backup;
mod chaos;
mod claimer;
mod clock;
mod cluster;
mod compare;
mod deliveries;
mod desk;
mod driver;
mod driver_client;
mod endurance;
mod environment;
mod fairness;
mod fill_queue;
mod filling;
mod flow;
mod http;
mod images;
mod lane;
mod lanes;
mod latency;
mod life;
mod limits;
mod load;
mod memory;
mod models;
mod neighbours;
mod pages;
mod pgbench;
mod postgres_cost;
mod processes;
mod procfs;
mod protocol;
mod provider;
mod python;
mod quality;
mod receiver;
mod report;
mod requests;
mod rules;
mod scale;
mod sites;
mod stack;
mod status;
mod submit;
mod tcp_relay;
mod texts;
mod upgrade;
mod verdicts;
mod waits;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use self::report::Report;

/// Measures Gatehouse and proves what it promises.
#[derive(Debug, Parser)]
#[command(name = "gatehouse-bench", max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Submissions a second, beside pgbench with a plain implementation's statements
    Submit(submit::Options),
    /// Status queries a second, beside the same server without a database
    Status(status::Options),
    /// The API's resident memory over minutes at full speed
    Memory(memory::Options),
    /// Latency and cost of the whole way from submission to webhook, and its speed
    Flow(flow::Options),
    /// Verdicts in the answers of submissions, beside clients that ask for them and beside webhooks; and 2,000 requests that wait at once
    Waits(waits::Options),
    /// Kill processes at random under load, then prove that nothing is lost and nothing doubled
    Chaos(chaos::Options),
    /// Five incidents of a database and its clients under load, one after another: the service must
    /// work again within 10 s, and lose nothing
    Failover(chaos::failover::Options),
    /// Fewer connections than all processes together may open, and restarts of Postgres under load: something is accepted
    /// and decided within 10 s, at any time
    Scarcity(chaos::scarcity::Options),
    /// The queue beside graphile-worker, pg-boss and a loop written by hand
    Queue(compare::Options),
    /// Claims at scale: a million jobs in many lanes, paused and capped ones among them
    Lanes(lanes::Options),
    /// A newcomer's wait beside another's backlog, and claims beside a million other jobs
    Fairness(fairness::Options),
    /// Long life: a steady stream of jobs while another connection holds a transaction open
    Endurance(endurance::Options),
    /// Texts against 10,000 keywords and 1,000 regular expressions, beside RE2's Set and Hyperscan
    Rules(rules::Options),
    /// Webhooks a second, beside a bare loop of the same requests; healthy endpoints beside a dead,
    /// a slow and a flooded one
    Deliveries(deliveries::Options),
    /// Hashes looked up in a million beside faiss, and pictures hashed beside the reference's library
    Images(images::Options),
    /// The models that score texts and pictures without a network: their speed with and without vector
    /// instructions, and their memory
    Models(models::Options),
    /// One hostile team does its worst beside a well-behaved one: its latencies, and the memory of the processes
    Neighbours(neighbours::Options),
    /// One team's long texts meet a provider's limit beside another team's short ones
    Limits(limits::Options),
    /// An autoscaler starts and stops workers by the metrics, while the load rises and falls: nothing
    /// is lost, and nothing swings
    Scale(scale::Options),
    /// Backlogs of texts at a slow provider: verdicts a second with more workers, slots, requests at once and teams, and what
    /// holds them back
    Backlog(backlog::Options),
    /// Upgrades from a previous version under load, in both orders, and goes back: nothing fails, and
    /// nothing is lost
    Upgrade(upgrade::Options),
    /// Loses the database under load and restores it from a backup: what must be there is there, and
    /// the work continues
    Backup(backup::Options),
    /// Every page of the console, with a million items: the server's p95 of each must be at most 50 ms
    Pages(pages::Options),
    /// The review desk with 200,000 reviews waiting and 50 moderators: claims, the next item, and whether
    /// time tells reviews with known answers from others
    Desk(desk::Options),
    /// An installation with ten million items beside one with a hundred thousand, and the retention of a day's items under load
    Life(life::Options),
    /// How good the built-in analyser is on your own labelled texts: precision, recall and calibration
    Quality(quality::Options),
    #[command(flatten)]
    Part(Part),
}

/// What other commands start.
#[derive(Debug, Subcommand)]
enum Part {
    /// Sends requests from a process of its own
    #[command(hide = true)]
    Driver(driver::Options),
    /// The relay before the receiver, which can be killed
    #[command(hide = true)]
    Relay(tcp_relay::Options),
    /// The hostile team
    #[command(hide = true)]
    Hostile(neighbours::HostileOptions),
    /// The bare loop
    #[command(hide = true)]
    Post(deliveries::baseline::Options),
}

fn main() -> ExitCode {
    let command = Cli::parse().command;
    let runtime = match command {
        Command::Part(Part::Driver(_) | Part::Post(_)) => {
            Builder::new_multi_thread().enable_all().build()
        }
        _ => Builder::new_current_thread().enable_all().build(),
    };
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        // The unfinished future is dropped, and with it every process that it started.
        let result = runtime.block_on(async {
            tokio::select! {
                result = run(command) => result,
                result = interruption() => result,
            }
        });
        // A driver's thread may still be waiting for a line.
        runtime.shutdown_background();
        result
    });
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    Ok(if holds(command).await? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Runs a command. Returns whether its proof holds, or true if it only measures.
async fn holds(command: Command) -> anyhow::Result<bool> {
    Ok(match command {
        Command::Submit(options) => {
            let json = options.common.environment.json;
            shown(&submit::run(options).await?, json)?
        }
        Command::Status(options) => {
            let json = options.common.environment.json;
            shown(&status::run(options).await?, json)?
        }
        Command::Memory(options) => {
            let json = options.common.environment.json;
            shown(&memory::run(options).await?, json)?
        }
        Command::Flow(options) => {
            let json = options.common.environment.json;
            shown(&flow::run(options).await?, json)?
        }
        Command::Waits(options) => {
            let json = options.common.environment.json;
            shown(&waits::run(options).await?, json)?
        }
        Command::Chaos(options) => {
            let json = options.common.environment.json;
            shown(&chaos::run(options).await?, json)?
        }
        Command::Failover(options) => {
            let json = options.common.environment.json;
            shown(&chaos::failover::run(options).await?, json)?
        }
        Command::Scarcity(options) => {
            let json = options.common.environment.json;
            shown(&chaos::scarcity::run(options).await?, json)?
        }
        Command::Queue(options) => {
            let json = options.environment.json;
            shown(&compare::run(options).await?, json)?
        }
        Command::Lanes(options) => {
            let json = options.environment.json;
            shown(&lanes::run(options).await?, json)?
        }
        Command::Fairness(options) => {
            let json = options.environment.json;
            shown(&fairness::run(options).await?, json)?
        }
        Command::Endurance(options) => {
            let json = options.environment.json;
            shown(&endurance::run(options).await?, json)?
        }
        Command::Rules(options) => {
            let json = options.json;
            shown(&rules::run(options).await?, json)?
        }
        Command::Deliveries(options) => deliver(options).await?,
        Command::Images(options) => {
            let json = options.json;
            shown(&images::run(options).await?, json)?
        }
        Command::Models(options) => shown(&models::run(&options)?, options.json)?,
        Command::Neighbours(options) => {
            let json = options.common.environment.json;
            shown(&neighbours::run(options).await?, json)?
        }
        Command::Limits(options) => {
            let json = options.common.environment.json;
            shown(&limits::run(options).await?, json)?
        }
        Command::Scale(options) => {
            let json = options.common.environment.json;
            shown(&scale::run(options).await?, json)?
        }
        Command::Backlog(options) => work_off(options).await?,
        Command::Upgrade(options) => {
            let json = options.common.environment.json;
            shown(&upgrade::run(options).await?, json)?
        }
        Command::Backup(options) => {
            let json = options.common.environment.json;
            shown(&backup::run(options).await?, json)?
        }
        Command::Pages(options) => {
            let json = options.common.environment.json;
            shown(&pages::run(options).await?, json)?
        }
        Command::Desk(options) => {
            let json = options.common.environment.json;
            shown(&desk::run(options).await?, json)?
        }
        Command::Life(options) => live(options).await?,
        Command::Quality(options) => score(options).await?,
        Command::Part(part) => play(part).await?,
    })
}

/// Runs a part of another command. It has no report of its own.
async fn play(part: Part) -> anyhow::Result<bool> {
    match part {
        Part::Driver(options) => driver::run(options).await?,
        Part::Relay(options) => tcp_relay::run(options).await?,
        Part::Hostile(options) => neighbours::run_hostile(options).await?,
        Part::Post(options) => deliveries::baseline::run(options).await?,
    }
    Ok(true)
}

/// Both parts of `deliveries`.
async fn deliver(options: deliveries::Options) -> anyhow::Result<bool> {
    let json = options.common.environment.json;
    if options.slow_team {
        shown(&deliveries::slow_team::run(options).await?, json)
    } else {
        shown(&deliveries::run(options).await?, json)
    }
}

async fn work_off(options: backlog::Options) -> anyhow::Result<bool> {
    let json = options.common.environment.json;
    shown(&backlog::run(options).await?, json)
}

async fn live(options: life::Options) -> anyhow::Result<bool> {
    let json = options.common.environment.json;
    shown(&life::run(options).await?, json)
}

async fn score(options: quality::Options) -> anyhow::Result<bool> {
    let json = options.json;
    shown(&quality::run(options).await?, json)
}

/// Prints a report, and returns whether it holds.
fn shown(report: &impl Report, json: bool) -> anyhow::Result<bool> {
    report::print(report, json)?;
    Ok(report.holds())
}

/// Ends with Ctrl-C or SIGTERM.
async fn interruption() -> anyhow::Result<ExitCode> {
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminated.recv() => {}
        _ = interrupted.recv() => {}
    }
    eprintln!("interrupted");
    Ok(ExitCode::from(130))
}
