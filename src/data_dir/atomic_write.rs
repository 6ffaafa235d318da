//! Files in the data directory: written whole or not at all.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use anyhow::anyhow;

use super::{Audience, DataDir, ELSEWHERE};

impl DataDir {
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

    pub(super) fn replace(
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
