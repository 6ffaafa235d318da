//! The Postgres programs: found on the machine, or downloaded once into the data directory. A new
//! database gets the newest supported version. An existing database needs the version that created
//! it.

mod download;
mod find;

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, anyhow};
use tokio::process::Command;

use crate::data_dir::DataDir;
use download::download;
use find::find;

/// The major versions that Gatehouse is tested with.
pub(super) const SUPPORTED: RangeInclusive<u32> = 15..=18;

/// Downloaded versions, in the data directory.
const DOWNLOADS: &str = "postgres-dist";

/// The path on which Postgres finds the programs that it starts itself, such as a shell for
/// `initdb`.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// One installation of Postgres.
#[derive(Clone, Debug)]
pub(super) struct Binaries {
    directory: PathBuf,
    major: u32,
}

impl Binaries {
    /// Finds the given major version, or the newest supported one; downloads it if the machine has none.
    ///
    /// # Errors
    /// One line that says what to install.
    pub(super) async fn locate(data: &DataDir, major: Option<u32>) -> anyhow::Result<Self> {
        let downloads = data.join(DOWNLOADS);
        if let Some(found) = find(&downloads, major).await {
            return Ok(found);
        }
        let wanted = major.unwrap_or(*SUPPORTED.end());
        download(&downloads, wanted).await.map_err(|error| match major {
            Some(major) => anyhow!(
                "the database in {} needs PostgreSQL {major}, which was neither found nor downloaded ({error}): \
                 install it, for example with `apt-get install postgresql-{major}`",
                data.path().display()
            ),
            None => anyhow!(
                "PostgreSQL {} to {} was neither found nor downloaded ({error}): install it, for example with \
                 `apt-get install postgresql`, or set DATABASE_URL to a server",
                SUPPORTED.start(),
                SUPPORTED.end()
            ),
        })?;
        find(&downloads, major).await.with_context(|| {
            format!("the downloaded PostgreSQL {wanted} does not run on this machine: install one")
        })
    }

    pub(super) fn major(&self) -> u32 {
        self.major
    }

    /// One of its programs, about to be run.
    pub(super) fn command(&self, program: &str) -> Command {
        command(&self.directory.join(program))
    }

    /// Whether a library of Postgres's contrib collection is installed beside the programs.
    pub(super) fn has_library(&self, name: &str) -> bool {
        let Some(root) = self.directory.parent() else {
            return false;
        };
        ["lib", "lib/postgresql", "lib64", "lib64/pgsql"]
            .iter()
            .any(|directory| root.join(directory).join(format!("{name}.so")).exists())
    }
}

/// A program that will run with an empty environment: `PG*` variables of the caller would lead Postgres's tools astray.
pub(super) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LC_ALL", "C")
        .current_dir("/")
        .stdin(Stdio::null());
    command
}
