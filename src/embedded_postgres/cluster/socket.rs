//! The socket of the private Postgres, and the URL that leads to it.

use std::{
    fs::{self, DirBuilder},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::NAME;
use crate::{data_dir::DataDir, system_account::SystemAccount};

/// The port names the socket `.s.PGSQL.5432`. Nothing listens on TCP.
pub(super) const PORT: u16 = 5432;

/// The kernel's limit is 107 bytes for the whole path of a socket.
pub(super) const LONGEST_SOCKET_DIRECTORY: usize = 107 - "/.s.PGSQL.5432".len();

/// The directory of the socket: in the data directory, or a private one in `/tmp` if the path is
/// too long.
pub(super) fn socket_directory(data: &DataDir) -> PathBuf {
    let directory = data.join("run");
    if directory.as_os_str().len() <= LONGEST_SOCKET_DIRECTORY {
        return directory;
    }
    let mut hasher = DefaultHasher::new();
    data.path().hash(&mut hasher);
    PathBuf::from(format!("/tmp/{NAME}-{:016x}", hasher.finish()))
}

/// Creates a directory that is closed to others, or uses the existing one. A directory of another
/// user is refused.
pub(super) fn create_private(directory: &Path, account: &SystemAccount) -> anyhow::Result<()> {
    let created = DirBuilder::new().mode(0o700).create(directory);
    let found = fs::symlink_metadata(directory);
    let ours = found.is_ok_and(|found| {
        found.is_dir() && found.uid() == account.uid().as_raw() && found.mode() & 0o777 == 0o700
    });
    match created {
        Ok(()) => Ok(()),
        Err(_) if ours => Ok(()),
        Err(error) => Err(error).with_context(|| {
            format!(
                "cannot create {}, or use it if it is there: it would have to be a directory of `{}` with the mode 0700",
                directory.display(),
                account.name()
            )
        }),
    }
}

/// The URL states everything, even that there is no password. So no `PG*` variable and no `.pgpass`
/// of a user changes its meaning.
pub(super) fn url(socket: &Path) -> String {
    let host: String = socket
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|&byte| match char::from(byte) {
            plain if plain.is_ascii_alphanumeric() || "/-_.".contains(plain) => plain.to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    format!("postgres:///{NAME}?host={host}&port={PORT}&user={NAME}&password=&sslmode=disable")
}
