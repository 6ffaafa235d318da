//! The data directory of `gatehouse up`: closed to other users, and locked, so that only one
//! process at a time uses it. Files written here appear whole or not at all.
//!
//! Everything in it belongs to the user who runs Gatehouse. If root starts `up`, that is the
//! account that `up` changes to. Root only creates the directory for this account.

mod permissions;

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::OFlags;

use permissions::{Owner, real};

pub(crate) use permissions::{create_as_root, foreign};

const SYSTEM_PATH: &str = "/var/lib/gatehouse";
const LOCK: &str = "lock";
/// The files that decide what Gatehouse and its Postgres do. All other files are written again at
/// each start.
const TRUSTED: [&str; 3] = [MASTER_KEY, "demo.json", "postgres.local.conf"];

/// The file with the master key.
pub(crate) const MASTER_KEY: &str = "master.key";
/// The file with the URL of the private Postgres.
pub(crate) const DATABASE_URL: &str = "postgres.url";
/// Follows no symbolic link, and no program inherits it.
const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// The end of every refusal.
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

/// The default data directory: `/var/lib/gatehouse` for root, `gatehouse` in the XDG data directory
/// (`$XDG_DATA_HOME`, else `$HOME/.local/share`) for others. `None` if neither variable is set.
pub(crate) fn default_path(xdg_data_home: Option<&Path>, home: Option<&Path>) -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some(PathBuf::from(SYSTEM_PATH));
    }
    // The XDG specification says to ignore relative paths.
    let data = xdg_data_home
        .filter(|path| path.is_absolute())
        .map(Path::to_path_buf)
        .or_else(|| home.map(|home| home.join(".local/share")))?;
    Some(data.join("gatehouse"))
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

    /// Writes a file, durably: after a crash, either the old file or the complete new file is
    /// there.
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
    // Earlier versions created it readable for everybody.
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

#[cfg(test)]
mod tests;
