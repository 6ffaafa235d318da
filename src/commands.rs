//! The commands. Each is one file; the smallest are here.

pub(crate) mod admin;
mod api;
mod check;
pub(crate) mod listen;
pub(crate) mod queue;
mod up;
mod worker;

use std::{io::Write as _, process::ExitCode};

use store::schema;

use crate::{
    config::{self, Command, DatabaseOptions, Document},
    demo, telemetry,
};

/// Runs a command to its end.
pub(crate) async fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Up(options) => up::run(*options).await?,
        Command::Api(options) => api::run(options).await?,
        Command::Worker(options) => worker::run(options).await?,
        Command::Migrate(options) => migrate(options).await?,
        Command::Check(options) => check::run(options).await?,
        Command::Openapi { document } => print_document(document)?,
        Command::Admin(options) => admin::run(options).await?,
        Command::Queue(options) => return queue::run(options).await,
        Command::Listen(args) => {
            let defaults = listen::Defaults {
                secret: config::webhook_secret()?,
                demo: Some(config::default_data_dir()?.join(demo::FILE)),
            };
            listen::run(args, defaults).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn migrate(options: DatabaseOptions) -> anyhow::Result<()> {
    telemetry::start_logs()?;
    let pool = schema::pool(
        &options.database_url,
        "gatehouse migrate",
        options.pool.settings(),
    )?;
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
