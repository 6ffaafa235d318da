//! `gatehouse audit`: verifies the audit log, and exports it, for anyone with access to the database
//! or to an export.

mod export;
mod verify;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use domain::audit::chain::ChainId;
use store::{PgConnection, audit};
use uuid::Uuid;

use crate::{config::AnyDatabaseOptions, service};

const NAME: &str = "gatehouse audit";

/// Options of `gatehouse audit`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check that no entry was changed, removed or inserted. The exit code is 0 if everything is in order
    Verify(verify::Args),
    /// Write the entries with their numbers and hashes, one JSON object a line, to standard output
    Export(export::Args),
    /// Seal now what is not sealed yet. API processes do this every few seconds
    Seal,
}

/// Runs the subcommand.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Verify(args) => return verify::run(options.database, &args).await,
        Action::Export(args) => export::run(options.database, &args).await?,
        Action::Seal => {
            let located = options.database.locate()?;
            let pool = service::open_current(&located.database, NAME).await?;
            let sealed = audit::sealing::catch_up(&database::for_command(&pool)).await?;
            writeln!(io::stdout(), "sealed {sealed} entries")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A team's chain, or `none`.
fn chain(text: &str) -> Result<ChainId, String> {
    if text == "none" {
        return Ok(ChainId::WITHOUT_TEAM);
    }
    let id: Result<Uuid, _> = text.parse();
    id.map(ChainId::from_uuid).map_err(|_| {
        "must be the id of a team, or `none` for the entries without a team".to_owned()
    })
}

/// Goes through the chains of the database, or only the wanted one.
struct Chains {
    wanted: Option<ChainId>,
    from: Option<ChainId>,
}

impl Chains {
    fn new(wanted: Option<ChainId>) -> Self {
        Self {
            wanted,
            from: Some(ChainId::WITHOUT_TEAM),
        }
    }

    async fn next(&mut self, conn: &mut PgConnection) -> anyhow::Result<Option<ChainId>> {
        let Some(from) = self.from else {
            return Ok(None);
        };
        if self.wanted.is_some() {
            self.from = None;
            return Ok(self.wanted);
        }
        let chain = audit::next(conn, from).await?;
        self.from = chain.and_then(ChainId::successor);
        Ok(chain)
    }
}
