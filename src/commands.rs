//! The commands. Each is one file; the smallest are here.

pub(crate) mod admin;
mod api;
mod check;
pub(crate) mod face;
pub(crate) mod listen;
pub(crate) mod queue;
mod up;
mod worker;

use std::{io::Write as _, process::ExitCode};

use store::schema;

use crate::{
    config::{self, Command, DatabaseOptions, Document},
    demo, service, telemetry,
};

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Up(options) => {
            // Here root's rights are given up, before there are threads, which would keep them.
            let prepared = up::prepare(*options)?;
            in_runtime(up::run(prepared))?;
        }
        Command::Api(options) => in_runtime(api::run(options))?,
        Command::Worker(options) => in_runtime(worker::run(options))?,
        Command::Migrate(options) => in_runtime(migrate(options))?,
        Command::Check(options) => return in_runtime(check::run(options)),
        Command::Openapi { document } => print_document(document)?,
        Command::Admin(options) => in_runtime(admin::run(options))?,
        Command::Queue(options) => return in_runtime(queue::run(options)),
        Command::Listen(args) => {
            let defaults = listen::Defaults {
                secret: config::webhook_secret()?,
                demo: config::data_dir()?.map(|directory| directory.join(demo::FILE)),
            };
            in_runtime(listen::run(args, defaults))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn in_runtime<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(command)
}

async fn migrate(options: DatabaseOptions) -> anyhow::Result<()> {
    telemetry::start_logs()?;
    let pool = service::open(&options, "gatehouse migrate").await?;
    schema::migrate(&pool).await?;
    writeln!(std::io::stdout(), "the schema is up to date")?;
    Ok(())
}

fn print_document(document: Document) -> anyhow::Result<()> {
    let text = match document {
        Document::Public => ::api::openapi::public_document(),
        Document::Management => ::api::openapi::management_document(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
