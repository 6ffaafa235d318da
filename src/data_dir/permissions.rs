//! Who else could change what is in a data directory. Gatehouse trusts these files with the master key and lets Postgres
//! run what they configure, so a directory that other users can change, or replace, is refused.

use std::{
    fs::{self, File, Metadata},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    },
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use rustix::fs::Mode;

use super::{DIRECTORY, ELSEWHERE};
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

/// Creates the directory for an account, or gives it an empty directory of root, and returns the
/// real path. Root never touches the content of the directory, because the account could have put a
/// link there.
///
/// # Errors
/// One line that says what to do: it belongs to somebody else, somebody else could replace it, or the account cannot reach it.
pub(crate) fn create_as_root(path: &Path, account: &SystemAccount) -> anyhow::Result<PathBuf> {
    let owner = Owner {
        uid: account.uid().as_raw(),
        groups: account.groups(),
    };
    let path = std::path::absolute(path)?;
    if !path.exists() {
        make_for(&path, account, &owner)
            .with_context(|| format!("cannot create {}", path.display()))?;
    }
    let path = real(&path)?;
    owner.judge_way(path.parent().unwrap_or(&path))?;
    let directory = rustix::fs::open(&path, DIRECTORY, Mode::empty())
        .with_context(|| format!("cannot open the data directory {}", path.display()))?;
    let directory = File::from(directory);
    let found = directory.metadata()?.uid();
    if found != owner.uid {
        ensure!(
            found == 0 && fs::read_dir(&path)?.next().is_none(),
            foreign(&path, found, account.name())
        );
        give(&directory, account)?;
    }
    account.reach(&path)?;
    Ok(path)
}

fn make_for(path: &Path, account: &SystemAccount, owner: &Owner) -> anyhow::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        bail!("it is not the name of a directory");
    };
    let existing = parent.ancestors().find(|step| step.exists());
    owner.judge_way(&fs::canonicalize(existing.unwrap_or(parent))?)?;
    fs::create_dir_all(parent)?;
    let parent: OwnedFd = rustix::fs::open(fs::canonicalize(parent)?, DIRECTORY, Mode::empty())?;
    rustix::fs::mkdirat(&parent, name, Mode::RWXU)?;
    let directory = rustix::fs::openat(&parent, name, DIRECTORY, Mode::empty())?;
    give(&File::from(directory), account)
}

/// Gives an open directory of root to an account and closes it to all others.
fn give(directory: &File, account: &SystemAccount) -> anyhow::Result<()> {
    ensure!(directory.metadata()?.uid() == 0, "another user created it");
    directory.set_permissions(fs::Permissions::from_mode(0o700))?;
    let (uid, gid) = (account.uid().as_raw(), account.gid().as_raw());
    fchown(directory, Some(uid), Some(gid))?;
    Ok(())
}

pub(super) fn real(path: &Path) -> anyhow::Result<PathBuf> {
    fs::canonicalize(path)
        .with_context(|| format!("cannot reach the data directory {}", path.display()))
}
