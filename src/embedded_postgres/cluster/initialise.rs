//! How the database is created: with `initdb`, whole or not at all.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::DirBuilderExt as _,
    path::Path,
    process,
};

use anyhow::{Context as _, bail};
use tracing::info;

use super::{DATABASE, NAME, advice};
use crate::{data_dir::DataDir, embedded_postgres::binaries::Binaries};

/// Runs `initdb` in a directory with a temporary name. It gets its real name when everything in it
/// is on the disk, so an interrupted `initdb` leaves nothing that looks like a database.
pub(super) async fn initialise(
    data: &DataDir,
    binaries: &Binaries,
    directory: &Path,
) -> anyhow::Result<()> {
    info!(version = binaries.major(), directory = %directory.display(), "creating the database");
    let draft = data.join(&format!("{DATABASE}.new-{}", process::id()));
    DirBuilder::new()
        .mode(0o700)
        .create(&draft)
        .with_context(|| format!("cannot create {}", draft.display()))?;
    let output = binaries
        .command("initdb")
        .arg("--pgdata")
        .arg(&draft)
        .args([
            &format!("--username={NAME}"),
            "--auth=peer",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ])
        .args(["--data-checksums", "--no-instructions"])
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run initdb")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let complaint = errors
            .lines()
            .find_map(complaint)
            .or_else(|| errors.lines().last())
            .unwrap_or("it gave no reason");
        discard_drafts(data);
        bail!(
            "cannot create a database in {}: {complaint}{}",
            data.path().display(),
            advice(complaint)
        );
    }
    fs::rename(&draft, directory)
        .and_then(|()| data.sync())
        .with_context(|| format!("cannot create {}", directory.display()))
}

/// The complaint in a line of `initdb`, without the time at the beginning of the line.
pub(super) fn complaint(line: &str) -> Option<&str> {
    let mark = ["error:", "FATAL:", "PANIC:"]
        .iter()
        .find_map(|mark| line.find(mark))?;
    line.get(mark..)
}

/// Removes what an interrupted `initdb` left. What cannot be removed does no harm.
pub(super) fn discard_drafts(data: &DataDir) {
    let Ok(entries) = fs::read_dir(data.path()) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(&format!("{DATABASE}.new-"))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
