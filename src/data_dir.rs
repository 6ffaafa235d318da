//! The data directory of `gatehouse up`: created with the modes that its parts need, and locked, so that one process at
//! a time uses it. Files written here appear whole or not at all.
//!
//! Run by an ordinary user, everything in it belongs to that user. Run by root, the directory itself is root's, and only
//! the parts that Postgres writes belong to the account that Postgres runs as.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context as _, anyhow, bail};

const SYSTEM_PATH: &str = "/var/lib/gatehouse";
const LOCK: &str = "lock";
/// Ends every refusal.
const ELSEWHERE: &str = ", or choose another directory with --data-dir";

/// Who may read a file in the data directory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Audience {
    /// Only the user who runs Gatehouse: mode 0600.
    Owner,
    /// Everyone who can reach the directory, and so Postgres's account too: mode 0644.
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

impl DataDir {
    /// Creates the directory if it is missing, and locks it.
    ///
    /// # Errors
    /// One line that says what to do: the directory cannot be created or written, is no directory, or another process
    /// uses it.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        create(path)
            .map_err(|error| anyhow!("cannot create {} ({error}){ELSEWHERE}", path.display()))?;
        let path = fs::canonicalize(path)
            .with_context(|| format!("cannot reach the data directory {}", path.display()))?;
        let lock = lock(&path)?;
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
    // Root's Postgres runs as another user, who must pass through.
    let mode = if rustix::process::geteuid().is_root() {
        0o711
    } else {
        0o700
    };
    DirBuilder::new().mode(mode).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

fn lock(directory: &Path) -> anyhow::Result<File> {
    let path = directory.join(LOCK);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o644)
        .open(&path)
        .map_err(|error| {
            anyhow!(
                "cannot write to {} ({error}): make it writable{ELSEWHERE}",
                directory.display()
            )
        })?;
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
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_second_process_is_refused_in_one_line_that_names_the_first() {
        let temporary = tempfile::tempdir().unwrap();
        let first = DataDir::open(&temporary.path().join("data")).unwrap();
        let refused = format!("{:#}", DataDir::open(first.path()).unwrap_err());
        assert!(
            refused.contains(&format!("(process {})", process::id())),
            "{refused}"
        );
        assert!(
            refused.contains("--data-dir") && !refused.contains('\n'),
            "{refused}"
        );
        let path = first.path().to_path_buf();
        drop(first);
        DataDir::open(&path).unwrap();
    }

    #[test]
    fn secrets_are_readable_by_their_owner_only() {
        let temporary = tempfile::tempdir().unwrap();
        let data = DataDir::open(&temporary.path().join("data")).unwrap();
        data.write("secret", b"first", Audience::Owner).unwrap();
        data.write("secret", b"second", Audience::Owner).unwrap();
        data.write("public", b"", Audience::Everyone).unwrap();
        assert_eq!(fs::read(data.join("secret")).unwrap(), b"second");
        assert_eq!(
            (mode(&data.join("secret")), mode(&data.join("public"))),
            (0o600, 0o644)
        );
    }

    #[test]
    fn a_file_in_the_way_is_refused_with_advice() {
        let temporary = tempfile::NamedTempFile::new().unwrap();
        let refused = format!("{:#}", DataDir::open(temporary.path()).unwrap_err());
        assert!(
            refused.contains("--data-dir") && !refused.contains('\n'),
            "{refused}"
        );
    }
}
