//! Load generator, side-by-side benchmarks and the chaos proof of Gatehouse. Not shipped.
//!
//! Each command makes a Postgres cluster of its own with durable settings, starts Gatehouse's processes on it, measures
//! or proves, and removes everything again. All of it runs on one thread: the machine belongs to what is measured.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a report and its progress are what this program is for"
)]

mod chaos;
mod cluster;
mod flow;
mod http;
mod latency;
mod load;
mod meter;
mod pgbench;
mod processes;
mod receiver;
mod report;
mod sites;
mod stack;
mod submit;
mod texts;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

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
    /// Latency and cost of the whole way from submission to webhook, and its speed
    Flow(flow::Options),
    /// Kill processes at random under load, then prove that nothing is lost and nothing doubled
    Chaos(chaos::Options),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command = Cli::parse().command;
    // Whoever loses is dropped, and with it every process that it started.
    let result = tokio::select! {
        result = run(command) => result,
        result = interruption() => result,
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Submit(options) => {
            let json = options.common.json;
            report::print(&submit::run(options).await?, json)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Flow(options) => {
            let json = options.common.json;
            report::print(&flow::run(options).await?, json)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Chaos(options) => {
            let json = options.common.json;
            let proof = chaos::run(options).await?;
            report::print(&proof, json)?;
            Ok(if proof.holds() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
    }
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
