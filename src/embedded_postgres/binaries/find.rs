//! Installations of Postgres on this machine, and their versions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tokio::process::Command;

use super::{Binaries, SUPPORTED, command};

/// Where distributions keep Postgres, one directory a version, with the programs in `bin`.
pub(super) const INSTALLATIONS: [(&str, &str); 3] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql@"),
];

/// The newest suitable installation that can be run.
pub(super) async fn find(downloads: &Path, major: Option<u32>) -> Option<Binaries> {
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

pub(super) async fn candidates(downloads: &Path) -> Vec<PathBuf> {
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

pub(super) fn installations(root: &Path, prefix: &str) -> Vec<PathBuf> {
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

pub(super) async fn ask(command: &mut Command) -> Option<PathBuf> {
    let output = command.output().await.ok()?;
    let answer = String::from_utf8(output.stdout).ok()?;
    let answer = answer.trim();
    (output.status.success() && !answer.is_empty()).then(|| PathBuf::from(answer))
}

/// The major version of an installation; `None` if it cannot be run.
pub(super) async fn version(directory: &Path) -> Option<u32> {
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
pub(super) fn parse_version(line: &str) -> Option<u32> {
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
