//! Gatehouse: one binary, many commands. `gatehouse up` runs everything in one process; `gatehouse api` and
//! `gatehouse worker` are the same service in as many processes as you like.

mod command_line;
mod commands;
mod config;
mod data_dir;
mod demo;
mod demo_file;
mod duration;
mod embedded_postgres;
mod example_data;
mod logs;
mod open_files;
mod otlp;
mod panic_log;
mod preview_sandbox;
mod prometheus;
mod rule_file;
mod service;
mod system_account;
mod terminal;

use std::process::ExitCode;

/// A request allocates and frees some hundred small objects, on changing threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let command = match commands::Cli::read() {
        Ok(cli) => cli.command,
        Err(error) => error.exit(),
    };
    match commands::run(command) {
        Ok(code) => code,
        Err(error) => {
            logs::print_error(&error);
            config::exit_code(&error)
        }
    }
}
