//! How root provides a data directory for the account that will run Gatehouse.

use std::{
    fs::{self, File},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    },
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use rustix::fs::Mode;

use super::{DIRECTORY, permissions::Owner};
use crate::system_account::SystemAccount;

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
            super::permissions::foreign(&path, found, account.name())
        );
        give(&directory, account)?;
    }
    account.reach(&path)?;
    Ok(path)
}

pub(super) fn make_for(path: &Path, account: &SystemAccount, owner: &Owner) -> anyhow::Result<()> {
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
pub(super) fn give(directory: &File, account: &SystemAccount) -> anyhow::Result<()> {
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
