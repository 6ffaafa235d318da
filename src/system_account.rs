//! The account of the operating system that `up` runs as. Some start `up` as root, for a port below
//! 1024 or out of habit. The interface, the image decoders and the HTTP client never run with
//! root's rights: `up` gives them up for good before the first thread starts.

use std::{fs, path::Path, process::Command};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Gid, Uid, geteuid, getgroups};

/// The account that root runs `up` as. `scripts/setup` creates it. It is never the distribution's `postgres`: the superuser of
/// another database on that machine would own ours.
pub(crate) const DEFAULT: &str = "gatehouse";

/// A user of the operating system and the groups that it is in.
#[derive(Clone, Debug)]
pub(crate) struct SystemAccount {
    name: String,
    uid: Uid,
    gid: Gid,
    groups: Vec<Gid>,
}

impl SystemAccount {
    /// The account that `up` runs as if root starts it.
    ///
    /// # Errors
    /// One line that says how to create the account: it does not exist, or it is root itself.
    pub(crate) fn for_root(name: &str) -> anyhow::Result<Self> {
        let account = Self::look_up(name).with_context(|| {
            format!(
                "`gatehouse up` does not run as root, and there is no account `{name}` to run as: create it with \
                 `useradd --system {DEFAULT}` or `scripts/setup run`, or name another one with --user"
            )
        })?;
        ensure!(
            !account.uid.is_root(),
            "`gatehouse up` does not run as root: give an unprivileged account with --user"
        );
        Ok(account)
    }

    /// The account that this process runs as.
    pub(crate) fn current() -> anyhow::Result<Self> {
        let uid = geteuid().as_raw();
        Self::look_up(&uid.to_string()).with_context(|| {
            format!("Postgres runs only as a user with an account, and the uid {uid} has none")
        })
    }

    /// Asks `id`, which knows every source of accounts of the machine.
    fn look_up(user: &str) -> anyhow::Result<Self> {
        let (names, numbers) = (ask_id(&[user])?, ask_id(&["-G", user])?);
        parse(&names, &numbers).with_context(|| format!("`id {user}` answered {names:?}"))
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn uid(&self) -> Uid {
        self.uid
    }

    pub(crate) fn gid(&self) -> Gid {
        self.gid
    }

    pub(crate) fn groups(&self) -> Vec<u32> {
        self.groups.iter().map(|group| group.as_raw()).collect()
    }

    /// Gives up root's rights and continues as this account. Call it while the process has one
    /// thread: the kernel changes only the calling thread, and new threads get the rights of the
    /// thread that starts them.
    ///
    /// # Errors
    /// The process has more threads, or some of root's rights remain.
    #[cfg(target_os = "linux")]
    pub(crate) fn assume(&self) -> anyhow::Result<()> {
        use rustix::thread::{
            set_no_new_privs, set_thread_groups, set_thread_res_gid, set_thread_res_uid,
            set_thread_uid,
        };

        let threads = fs::read_dir("/proc/self/task")
            .context("cannot count this process's threads in /proc")?
            .count();
        ensure!(
            threads == 1,
            "root's rights cannot be given up by {threads} threads"
        );
        let (uid, gid) = (self.uid, self.gid);
        set_thread_groups(&self.groups)
            .and_then(|()| set_thread_res_gid(gid, gid, gid))
            .and_then(|()| set_thread_res_uid(uid, uid, uid))
            // A program with the set-user-ID bit cannot give them back.
            .and_then(|()| set_no_new_privs(true))
            .with_context(|| format!("cannot become the user `{}`", self.name))?;
        let status = fs::read_to_string("/proc/self/status")?;
        ensure!(
            geteuid() == uid && set_thread_uid(Uid::ROOT).is_err() && has_no_capabilities(&status),
            "could not give up root's rights for good: start `gatehouse up` as the user `{}`",
            self.name
        );
        Ok(())
    }

    /// Only Linux supports this.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn assume(&self) -> anyhow::Result<()> {
        bail!(
            "on this system, `gatehouse up` cannot give up root's rights: start it as the user `{}`",
            self.name
        )
    }

    /// Makes sure that this account can pass through a directory and everything above it.
    ///
    /// # Errors
    /// One line that names the closed directory and says what to do.
    pub(crate) fn reach(&self, directory: &Path) -> anyhow::Result<()> {
        use std::os::unix::fs::MetadataExt as _;

        for step in directory.ancestors() {
            let metadata = fs::metadata(step)
                .with_context(|| format!("cannot look into {}", step.display()))?;
            let passable = if metadata.uid() == self.uid.as_raw() {
                0o100
            } else if self
                .groups
                .iter()
                .any(|group| group.as_raw() == metadata.gid())
            {
                0o010
            } else {
                0o001
            };
            if metadata.mode() & passable == 0 {
                bail!(
                    "the user `{0}`, as whom Gatehouse runs, cannot enter {1}: choose a --data-dir elsewhere, such as \
                     /var/lib/gatehouse, or open the way with `chmod o+x {1}`",
                    self.name,
                    step.display()
                );
            }
        }
        Ok(())
    }
}

/// Whether a thread has no capabilities, now or later, according to `/proc/self/status`.
#[cfg(target_os = "linux")]
fn has_no_capabilities(status: &str) -> bool {
    ["CapPrm:", "CapEff:", "CapAmb:"].iter().all(|set| {
        let bits = status.lines().find_map(|line| line.strip_prefix(set));
        bits.is_none_or(|bits| bits.trim().chars().all(|digit| digit == '0'))
    })
}

/// The groups that this process is in, its own first.
pub(crate) fn own_groups() -> Vec<u32> {
    let others = getgroups().unwrap_or_default();
    let own = rustix::process::getegid();
    std::iter::once(own)
        .chain(others)
        .map(Gid::as_raw)
        .collect()
}

fn ask_id(arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("id")
        .args(arguments)
        .env("LC_ALL", "C")
        .output()
        .context("cannot run `id`")?;
    ensure!(
        output.status.success(),
        "`id {}` failed",
        arguments.join(" ")
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads `uid=101(gatehouse) gid=104(gatehouse) groups=...`, and the numbers of all groups.
fn parse(names: &str, numbers: &str) -> Option<SystemAccount> {
    let mut fields = names.split_whitespace();
    let (uid, name) = fields
        .next()?
        .strip_prefix("uid=")?
        .strip_suffix(')')?
        .split_once('(')?;
    let gid = fields.next()?.strip_prefix("gid=")?;
    let gid = gid.split_once('(').map_or(gid, |(number, _)| number);
    let groups: Result<Vec<_>, _> = numbers
        .split_whitespace()
        .map(|number| number.parse().map(Gid::from_raw))
        .collect();
    Some(SystemAccount {
        name: name.to_owned(),
        uid: Uid::from_raw(uid.parse().ok()?),
        gid: Gid::from_raw(gid.parse().ok()?),
        groups: groups.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_answer_of_id_is_read() {
        let account = parse(
            "uid=101(gatehouse) gid=104(gatehouse) groups=104(gatehouse),7(certificates)\n",
            "104 7\n",
        )
        .unwrap();
        let groups: Vec<u32> = account.groups.iter().map(|group| group.as_raw()).collect();
        assert_eq!(
            (
                account.name.as_str(),
                account.uid.as_raw(),
                account.gid.as_raw(),
                groups
            ),
            ("gatehouse", 101, 104, vec![104, 7])
        );
        assert_eq!(
            parse("uid=7(a) gid=8 groups=8", "8").map(|account| account.gid.as_raw()),
            Some(8)
        );
        assert!(
            parse("uid=4711 gid=4711 groups=4711", "4711").is_none(),
            "a uid without an account"
        );
        assert!(parse("", "").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_capability_that_is_left_is_seen() {
        let none =
            "CapInh:\t0000000000000001\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n";
        assert!(has_no_capabilities(none));
        assert!(!has_no_capabilities(
            &none.replace("CapEff:\t0000", "CapEff:\t0004")
        ));
    }

    #[test]
    fn a_closed_directory_on_the_way_is_named() {
        let temporary = tempfile::tempdir().unwrap();
        let inner = temporary.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = parse("uid=54321(stranger) gid=54321(stranger)", "54321").unwrap();
        let refused = stranger.reach(&inner).unwrap_err().to_string();
        assert!(
            refused.contains(&temporary.path().display().to_string()),
            "{refused}"
        );
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o711)).unwrap();
        stranger.reach(&inner).unwrap();
    }
}
