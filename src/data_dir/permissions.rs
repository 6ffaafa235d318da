//! Who else could change what is in a data directory. Gatehouse trusts these files with the master key and lets Postgres
//! run what they configure, so a directory that other users can change, or replace, is refused.

use std::{
    fs::{self, File, Metadata},
    os::unix::fs::MetadataExt as _,
    path::Path,
};

use anyhow::{Context as _, bail};

use super::ELSEWHERE;
use crate::system_account::SystemAccount;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;

/// The user who will own the directory.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    pub(super) uid: u32,
    pub(super) groups: Vec<u32>,
}

impl Owner {
    /// The user who runs this process.
    pub(super) fn current() -> Self {
        Self {
            uid: rustix::process::geteuid().as_raw(),
            groups: crate::system_account::own_groups(),
        }
    }

    /// Refuses a data directory that belongs to somebody else or that somebody else can write to.
    pub(super) fn judge(&self, path: &Path, metadata: &Metadata) -> anyhow::Result<()> {
        if metadata.uid() != self.uid {
            return Err(foreign(path, metadata.uid(), &self.name()));
        }
        closed(path, metadata)
    }

    /// Refuses a file in the data directory that somebody else can write to or owns. A readable
    /// file of root is accepted.
    pub(super) fn judge_file(&self, path: &Path, metadata: &Metadata) -> anyhow::Result<()> {
        if !metadata.is_file() {
            bail!("{} is not a file: move it away{ELSEWHERE}", path.display());
        }
        let roots = metadata.uid() == ROOT && File::open(path).is_ok();
        if metadata.uid() != self.uid && !roots {
            return Err(foreign(path, metadata.uid(), &self.name()));
        }
        closed(path, metadata)
    }

    /// The reason why a file cannot be written, if somebody else owns it.
    pub(super) fn explain(&self, path: &Path) -> Option<anyhow::Error> {
        let owner = fs::symlink_metadata(path).ok()?.uid();
        (owner != self.uid).then(|| foreign(path, owner, &self.name()))
    }

    /// Refuses a path on which somebody else could replace this directory: the owner of a directory
    /// above it, or anybody who can write there. In a sticky directory, such as `/tmp`, nobody can
    /// rename what belongs to others.
    pub(super) fn judge_way(&self, above: &Path) -> anyhow::Result<()> {
        for step in above.ancestors() {
            let metadata = fs::metadata(step)
                .with_context(|| format!("cannot look into {}", step.display()))?;
            if ![ROOT, self.uid].contains(&metadata.uid()) {
                bail!(
                    "{} belongs to another user (uid {}), who could replace the data directory in it: choose another \
                     directory with --data-dir",
                    step.display(),
                    metadata.uid()
                );
            }
            let group_is_ours = metadata.gid() == ROOT || self.groups.contains(&metadata.gid());
            let strangers = if group_is_ours { 0o002 } else { 0o022 };
            if metadata.mode() & strangers != 0 && metadata.mode() & STICKY == 0 {
                bail!(
                    "other users can write to {0}, and so could replace the data directory in it: close it with \
                     `chmod go-w {0}`{ELSEWHERE}",
                    step.display()
                );
            }
        }
        Ok(())
    }

    fn name(&self) -> String {
        SystemAccount::current().map_or_else(
            |_| self.uid.to_string(),
            |account| account.name().to_owned(),
        )
    }
}

/// The error for a directory or a file of another user. It says how to take it over.
pub(crate) fn foreign(path: &Path, owner: u32, user: &str) -> anyhow::Error {
    let owner = match owner {
        ROOT => "root".to_owned(),
        uid => format!("another user (uid {uid})"),
    };
    anyhow::anyhow!(
        "{0} belongs to {owner}, and Gatehouse runs as `{user}`: stop every Gatehouse and Postgres that uses it, then \
         give it to `{user}` with `chown -R {user}: {0}`{ELSEWHERE}",
        path.display()
    )
}

fn closed(path: &Path, metadata: &Metadata) -> anyhow::Result<()> {
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        bail!(
            "other users can write to {0} (mode {1:04o}): if nobody changed its content, run `chmod go-w {0}`{ELSEWHERE}",
            path.display(),
            metadata.mode() & 0o7777
        );
    }
    Ok(())
}
