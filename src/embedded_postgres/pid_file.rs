//! `postmaster.pid`, in which Postgres writes its process id and its state.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// The content of `postmaster.pid`: the pid is in the first line, the state in the eighth.
#[derive(Debug)]
pub(super) struct PidFile {
    pub(super) pid: i32,
    ready: bool,
}

impl PidFile {
    /// `None` if there is no file, or if it is incomplete.
    pub(super) fn read(database: &Path) -> anyhow::Result<Option<Self>> {
        let path = path(database);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Self::parse(&text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let pid = text.lines().next()?.trim().parse().ok()?;
        let ready = text
            .lines()
            .nth(7)
            .is_some_and(|state| state.trim() == "ready");
        Some(Self { pid, ready })
    }

    /// Whether it was written by this process, which accepts connections.
    pub(super) fn is_ready(&self, pid: u32) -> bool {
        self.ready && u32::try_from(self.pid) == Ok(pid)
    }
}

/// Where Postgres writes it.
pub(super) fn path(database: &Path) -> PathBuf {
    database.join("postmaster.pid")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_read_whole_or_not_at_all() {
        let text = "4711\n/data\n1700000000\n5432\n/data/run\n\n  123  0\nready   \n";
        assert!(PidFile::parse(text).unwrap().is_ready(4711));
        assert!(!PidFile::parse(text).unwrap().is_ready(4712));
        assert!(
            !PidFile::parse(&text.replace("ready ", "starting"))
                .unwrap()
                .is_ready(4711)
        );
        assert!(PidFile::parse("").is_none());
        assert!(PidFile::parse("garbage").is_none());
    }
}
