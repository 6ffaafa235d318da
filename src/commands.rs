//! The commands. Each is one file; the smallest are here.

mod admin;
mod api;
mod audit;
mod check;
mod console;
mod erasure;
mod export;
mod healthcheck;
mod http_client;
mod import;
mod line_files;
mod listen;
mod queue;
mod submit;
mod table;
mod thresholds;
mod up;
mod worker;

use std::{io::Write as _, path::Path, process::ExitCode};

use clap::{Parser, Subcommand, ValueEnum};
use store::{PgPool, schema};
use tracing::warn;

use crate::{
    config::{self, ApiOptions, CheckOptions, DatabaseOptions, UpOptions, WorkerOptions},
    logs, preview_sandbox, service, terminal,
};

/// A self-hosted content moderation service.
#[derive(Debug, Parser)]
#[command(name = "gatehouse", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Reads the command line and the environment.
    ///
    /// # Errors
    /// What clap prints.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        config::read()
    }
}

/// The commands of the binary.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run everything in one process, on a private Postgres unless `DATABASE_URL` is set
    Up(Box<UpOptions>),
    /// Run the HTTP interface
    Api(Box<ApiOptions>),
    /// Run workers
    Worker(WorkerOptions),
    /// Upgrade the database to this binary's schema
    Migrate(DatabaseOptions),
    /// Check the configuration and what it refers to. The exit code is 0 if everything is in order
    Check(CheckOptions),
    /// Ask the `up`, `api` or `worker` process on this machine whether it is ready. The exit code is 0 if it is
    Healthcheck(healthcheck::Options),
    /// Print an OpenAPI document
    Openapi {
        /// Which interface
        #[arg(default_value = "public")]
        document: Document,
    },
    /// Set up teams, sites, keys, endpoints and rules
    Admin(admin::Options),
    /// Check what an erasure has left, and the certificates of erasures
    Erasure(erasure::Options),
    /// Look at the queue and act on it: status, dead jobs, replays, pauses
    Queue(queue::Options),
    /// Verify the audit log, export it, and seal it at once
    Audit(audit::Options),
    /// Decode the image at standard input, and write its preview. The interface starts this itself
    #[command(hide = true)]
    Darkroom {
        /// Bytes of memory for decoding
        #[arg(long)]
        memory: usize,
    },
    /// Receive webhooks here, verify and print them
    Listen(listen::Args),
    /// Download all data of a site from a running service into an archive
    Export(export::Args),
    /// Submit a file of texts or images to a running service, and get a verdict for each
    Submit(submit::Args),
    /// Find the thresholds here that select as many of your texts as your thresholds at OpenAI or Perspective.
    /// Sends the texts to that service, too
    Thresholds(thresholds::Args),
    /// Put the archive of an export into this database
    Import(import::Options),
}

/// The interfaces that have a document.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Document {
    /// What applications call.
    Public,
    /// What operators and teams call.
    Management,
}

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Up(options) => {
            // Gives up root's rights before there are threads: threads would keep them.
            let prepared = up::prepare(*options)?;
            in_runtime(up::run(prepared))?;
        }
        Command::Api(options) => in_runtime(api::run(*options))?,
        Command::Worker(options) => in_runtime(worker::run(options))?,
        Command::Migrate(options) => in_runtime(migrate(options))?,
        Command::Check(options) => return in_runtime(check::run(options)),
        Command::Healthcheck(options) => return in_runtime(healthcheck::run(options)),
        Command::Openapi { document } => print_document(document)?,
        Command::Admin(options) => in_runtime(admin::run(options))?,
        Command::Erasure(options) => return in_runtime(erasure::run(options)),
        Command::Queue(options) => return in_runtime(queue::run(options)),
        Command::Audit(options) => return in_runtime(audit::run(options)),
        Command::Export(args) => in_runtime(export::run(args))?,
        Command::Submit(args) => return in_runtime(submit::run(args)),
        Command::Thresholds(args) => return in_runtime(thresholds::run(args)),
        Command::Import(options) => in_runtime(import::run(options))?,
        Command::Darkroom { memory } => preview_sandbox::run(memory)?,
        Command::Listen(args) => in_runtime(listen::run(args))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Warns of variables that nobody reads. Other programs may share the environment, so a process starts with them. `providers` is its
/// file of providers.
fn warn_of_unknown_variables(providers: Option<&Path>) {
    for unknown in config::unknown_variables::<Cli>(providers) {
        warn!("{unknown}");
    }
}

fn in_runtime<T>(command: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(command)
}

fn print_document(document: Document) -> anyhow::Result<()> {
    let text = match document {
        Document::Public => ::api::openapi_documents::public(),
        Document::Management => ::api::openapi_documents::management(),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Migrates, and says what is left to do for an administrator.
///
/// # Errors
/// The database cannot be used, belongs to others, or has a schema that is too new.
async fn migrate(options: DatabaseOptions) -> anyhow::Result<()> {
    logs::start()?;
    warn_of_unknown_variables(None);
    let pool = service::open(&options.database()?, "gatehouse migrate").await?;
    let standing = schema::migrate(&pool).await?;
    terminal::print(&format!("the schema is {standing}\n"))?;
    if let Some(note) = missing_role(&pool).await? {
        terminal::print(&format!("note: {note}\n"))?;
    }
    Ok(())
}

/// What to do about the role of the dashboards, if it is missing. A role that may not create roles migrates without it.
async fn missing_role(pool: &PgPool) -> anyhow::Result<Option<String>> {
    let mut conn = database::connect(pool).await?;
    let statements = schema::missing_role(&mut conn).await?;
    Ok(statements.map(|statements| {
        format!(
            "the role gatehouse_ops is missing, or may not read the schema `ops`. Only the dashboard of tenants needs it \
             (docs/dashboards.md). As an administrator, run in this database: {}",
            statements.join(" ")
        )
    }))
}
