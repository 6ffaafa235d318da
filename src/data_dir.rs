//! The data directory of `gatehouse up`: created with the modes that its parts need, closed to other users, and locked, so
//! that one process at a time uses it. Files written here appear whole or not at all.
//!
//! Everything in it belongs to the user who runs Gatehouse. Started by root, that is the account that root's rights are given
//! up for; root's only part is to make the directory for it.

mod owners;
#[cfg(test)]
mod tests;

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown,
};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, anyhow, bail, ensure};
use rustix::fs::{Mode, OFlags};

use self::owners::Owner;
pub(crate) use self::owners::foreign;
use crate::account::Account;

const SYSTEM_PATH: &str = "/var/lib/gatehouse";
const LOCK: &str = "lock";
/// The files that decide what Gatehouse and its Postgres do. All others are written anew at each start.
const TRUSTED: [&str; 3] = [MASTER_KEY, "demo.json", "postgres.local.conf"];

/// The file with the master key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file with the URL of the private Postgres.
pub(crate) const DATABASE_URL: &str = "postgres.url";
/// No symbolic link is followed, and no program inherits it.
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// Ends every refusal.
const ELSEWHERE: &str = ", or choose another directory with --data-dir";

/// Who may read a file in the data directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Audience {
    /// Only the user who runs Gatehouse: mode 0600.
    Owner,
    /// Everyone who can reach the directory: mode 0644.
    Everyone,
}

/// An open data directory. The lock is released when this is dropped or the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    _lock: File,
}

/// Where the data directory is when nobody says otherwise: `/var/lib/gatehouse` for root, `gatehouse` in the XDG data
/// directory (`$XDG_DATA_HOME`, else `$HOME/.local/share`) for others. `None` when neither variable is known.
pub(crate) fn default_path(xdg_data_home: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some(PathBuf::from(SYSTEM_PATH));
    }
    // The XDG specification has relative paths ignored.
    let data = xdg_data_home
        .filter(|path| path.is_absolute())
        .map(Path::to_path_buf)
        .or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("gatehouse"))
}

/// Root's part: makes the directory for an account if it is missing or root's and empty, and answers its real path. What is
/// in it is never touched by root: the account could have put a link there.
///
/// # Errors
/// One line that says what to do: it belongs to somebody else, somebody else could replace it, or the account cannot reach it.
pub(crate) fn provide(path: &Path, account: &Account) -> anyhow::Result<PathBuf> {
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
            owners::foreign(&path, found, account.name())
        );
        give(&directory, account)?;
    }
    account.reach(&path)?;
    Ok(path)
}

fn make_for(path: &Path, account: &Account, owner: &Owner) -> anyhow::Result<()> {
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

/// Gives an open directory of root's to an account and closes it to all others.
fn give(directory: &File, account: &Account) -> anyhow::Result<()> {
    ensure!(directory.metadata()?.uid() == 0, "another user created it");
    directory.set_permissions(fs::Permissions::from_mode(0o700))?;
    let (uid, gid) = (account.uid().as_raw(), account.gid().as_raw());
    fchown(directory, Some(uid), Some(gid))?;
    Ok(())
}

fn real(path: &Path) -> anyhow::Result<PathBuf> {
    fs::canonicalize(path)
        .with_context(|| format!("cannot reach the data directory {}", path.display()))
}

impl DataDir {
    /// Creates the directory if it is missing, makes sure that nobody else can change what is in it, and locks it.
    ///
    /// # Errors
    /// One line that says what to do: the directory cannot be created or written, is no directory, other users can change
    /// it, or another process uses it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        create(path)
            .map_err(|error| anyhow!("cannot create {} ({error}){ELSEWHERE}", path.display()))?;
        let path = real(path)?;
        let owner = Owner::current();
        owner.judge_way(path.parent().unwrap_or(&path))?;
        owner.judge(&path, &fs::metadata(&path)?)?;
        for file in TRUSTED.map(|name| path.join(name)) {
            match fs::metadata(&file) {
                Ok(metadata) => owner.judge_file(&file, &metadata)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("cannot look at {}", file.display()));
                }
            }
        }
        let lock = lock(&path, &owner)?;
        Ok(Self { path, _lock: lock })
    }

    /// The absolute path, free of symbolic links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file or directory in it.
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file, durably: after a crash there is either the old file or the new one, whole and with its mode.
    ///
    /// # Errors
    /// The directory cannot be written or the disk is full; the message names the file.
    pub(crate) fn write(
        &self,
        name: &str,
        contents: &[u8],
        audience: Audience,
    ) -> anyhow::Result<()> {
        let path = self.join(name);
        self.replace(name, &path, contents, audience)
            .map_err(|error| {
                anyhow!(
                    "cannot write {} ({error}): make room or make it writable{ELSEWHERE}",
                    path.display()
                )
            })
    }

    fn replace(
        &self,
        name: &str,
        path: &Path,
        contents: &[u8],
        audience: Audience,
    ) -> io::Result<()> {
        let draft = self.join(&format!("{name}.new"));
        match fs::remove_file(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mode = match audience {
            Audience::Owner => 0o600,
            Audience::Everyone => 0o644,
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&draft)?;
        // The mode given to `open` is narrowed by the umask.
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.write_all(contents)?;
        file.sync_all()?;
        fs::rename(&draft, path)?;
        self.sync()
    }

    /// Makes renames within the directory durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::open(&self.path)?.sync_all()
    }
}

fn create(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// Only its owner can open the file. Anybody else who could open it could hold the lock and keep Gatehouse from starting.
fn lock(directory: &Path, owner: &Owner) -> anyhow::Result<File> {
    let path = directory.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(&path)
        .map_err(|error| {
            owner.explain(&path).unwrap_or_else(|| {
                anyhow!(
                    "cannot write to {} ({error}): make it writable{ELSEWHERE}",
                    directory.display()
                )
            })
        })?;
    owner.judge_file(&path, &file.metadata()?)?;
    // Earlier versions made it for everybody to read.
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .with_context(|| format!("cannot protect {} from other users", path.display()))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = match fs::read_to_string(&path) {
                Ok(pid) if !pid.trim().is_empty() => format!(" (process {})", pid.trim()),
                Ok(_) | Err(_) => String::new(),
            };
            bail!(
                "{} is in use by another Gatehouse{holder}: stop it first{ELSEWHERE}",
                directory.display()
            );
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    file.set_len(0)
        .and_then(|()| writeln!(file, "{}", process::id()))
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file)
}
