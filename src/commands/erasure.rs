//! `gatehouse erasure`: checks what an erasure has left, and certificates.

mod certificate;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use store::erasure::search::{self, Searched};

use crate::{config::AnyDatabaseOptions, service, terminal};

const NAME: &str = "gatehouse erasure";

/// A shorter text would be found everywhere.
const SHORTEST: usize = 3;

/// Options of `gatehouse erasure`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    database: AnyDatabaseOptions,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Search every column of the database for texts, after removing dead rows. The exit code is 1 if one is found. Files of the
    /// write-ahead log, and backups, are not searched
    Verify {
        /// A file with the texts, one a line; `-` is standard input
        #[arg(long)]
        texts: PathBuf,
        /// Search without removing dead rows before, which reads every table once more
        #[arg(long)]
        skip_vacuum: bool,
    },
    /// Check a certificate of an erasure, and print what it says. The exit code is 1 if it is not valid
    CheckCertificate(certificate::Args),
}

/// Runs the action.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    match options.action {
        Action::Verify { texts, skip_vacuum } => {
            let texts = lines(&texts)?;
            ensure!(!texts.is_empty(), "there are no texts to search for");
            for text in &texts {
                ensure!(
                    text.chars().count() >= SHORTEST,
                    "a text to search for must have at least {SHORTEST} characters"
                );
            }
            let located = options.database.locate()?;
            let pool = service::open_current(&located.database, NAME).await?;
            let pool = database::for_command(&pool);
            if !skip_vacuum {
                search::vacuum(&pool).await?;
            }
            let mut conn = pool.acquire().await?;
            tell(&search::search(&mut conn, &texts).await?, texts.len())
        }
        Action::CheckCertificate(args) => certificate::check(args, options.database).await,
    }
}

fn tell(searched: &Searched, texts: usize) -> anyhow::Result<ExitCode> {
    terminal::print(&format!(
        "searched {} columns of {} tables for {texts} {}\n",
        searched.columns,
        searched.tables,
        if texts == 1 { "text" } else { "texts" }
    ))?;
    if searched.found.is_empty() {
        terminal::print("nothing found\n")?;
        return Ok(ExitCode::SUCCESS);
    }
    for found in &searched.found {
        terminal::print(&format!("found: {}, rows: {}\n", found.column, found.rows))?;
    }
    Ok(ExitCode::FAILURE)
}

/// The lines of a file that are not empty.
fn lines(file: &Path) -> anyhow::Result<Vec<String>> {
    let text = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    let text = text.with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text.lines().filter(|line| !line.is_empty());
    Ok(lines.map(str::to_owned).collect())
}
