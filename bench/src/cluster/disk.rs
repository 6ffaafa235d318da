//! A small filesystem for the data of one cluster, so that it can be full while the machine has room.

use std::{
    fs::{self, File},
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, ensure};

use super::machine::Account;

/// What is written at once to fill it: first large pieces, then smaller ones, until not even a byte fits.
const PIECES: [usize; 3] = [1 << 20, 4 << 10, 1];

/// A filesystem in memory. It is unmounted when dropped.
pub(crate) struct Disk {
    root: PathBuf,
    stays: bool,
}

impl Disk {
    /// Mounts one of so many mebibytes in a new directory, which then belongs to the account.
    ///
    /// # Errors
    /// It cannot be mounted, which nearly always means that this program does not run as root.
    pub(super) fn mount(
        root: PathBuf,
        mebibytes: u32,
        owner: Option<Account>,
    ) -> anyhow::Result<Self> {
        fs::create_dir(&root)?;
        let owner = owner.map(|Account { uid, gid, .. }| format!(",uid={uid},gid={gid}"));
        let options = format!("size={mebibytes}m,mode=0700{}", owner.unwrap_or_default());
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "gatehouse-bench"])
            .arg(&root)
            .output()
            .context("cannot run mount")?;
        let told = String::from_utf8_lossy(&mounted.stderr);
        let told = told.lines().next().unwrap_or("mount failed");
        ensure!(mounted.status.success(), "{told}");
        Ok(Self { root, stays: false })
    }

    /// Leaves it mounted.
    pub(super) const fn keep(&mut self) {
        self.stays = true;
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Takes all room that there is.
    ///
    /// # Errors
    /// It is not full, but cannot be written to.
    pub(crate) fn fill(&self) -> anyhow::Result<()> {
        let mut ballast = File::options()
            .create(true)
            .append(true)
            .open(self.ballast())?;
        for piece in PIECES {
            let piece = vec![0; piece];
            loop {
                match ballast.write(&piece) {
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::StorageFull => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Gives the room back.
    pub(crate) fn free(&self) -> anyhow::Result<()> {
        Ok(fs::remove_file(self.ballast())?)
    }

    fn ballast(&self) -> PathBuf {
        self.root.join("ballast")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let unmount = || Command::new("umount").arg(&self.root).status();
        if self.stays || !unmount().is_ok_and(|status| status.success()) {
            eprintln!("unmount {} when you no longer need it", self.root.display());
        }
    }
}
