//! The operating system's account that the private Postgres runs as. Postgres refuses to run as root, so root picks an
//! unprivileged one; an ordinary user's Postgres runs as that user.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, bail};
use tokio::process::Command;

/// Whom root runs Postgres as: the first that exists. `nobody` exists everywhere and is the last resort, because other
/// services may share it.
const UNPRIVILEGED: [&str; 3] = ["gatehouse", "postgres", "nobody"];

/// The programs that Postgres starts itself (a shell, for `initdb`) are found here and nowhere else.
const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[derive(Clone, Debug)]
pub(super) struct Account {
    name: String,
    uid: u32,
    gid: u32,
}

impl Account {
    /// The account for a database directory: its owner if it exists already, so that a later change of the machine's
    /// accounts changes nothing.
    ///
    /// # Errors
    /// The directory belongs to someone as whom Postgres cannot be run from here.
    pub(super) async fn choose(database: &Path) -> anyhow::Result<Self> {
        let own = rustix::process::geteuid();
        let owner = fs::metadata(database).ok().map(|metadata| metadata.uid());
        match owner {
            Some(owner) if !own.is_root() && owner != own.as_raw() => bail!(
                "{} belongs to another user (uid {owner}): run Gatehouse as that user or as root, or choose another \
                 directory with --data-dir",
                database.display()
            ),
            Some(0) => bail!(
                "{} belongs to root, as whom Postgres refuses to run: give it back to its account with `chown -R`, move \
                 it away if it is no database, or choose another directory with --data-dir",
                database.display()
            ),
            Some(owner) => Self::look_up(&owner.to_string())
                .await
                .with_context(|| format!("the owner of {} has no account", database.display())),
            None if own.is_root() => {
                for name in UNPRIVILEGED {
                    if let Ok(account) = Self::look_up(name).await {
                        return Ok(account);
                    }
                }
                bail!("no unprivileged account to run Postgres as: `useradd --system gatehouse`")
            }
            None => Self::current().await,
        }
    }

    /// The account that this process runs as.
    pub(super) async fn current() -> anyhow::Result<Self> {
        let uid = rustix::process::geteuid().as_raw();
        Self::look_up(&uid.to_string())
            .await
            .context("Postgres runs only as a user with an account")
    }

    /// Asks `id`, which knows every source of accounts of the machine.
    async fn look_up(user: &str) -> anyhow::Result<Self> {
        let output = Command::new("id")
            .arg(user)
            .env("LC_ALL", "C")
            .output()
            .await?;
        parse_id(&String::from_utf8_lossy(&output.stdout))
            .with_context(|| format!("there is no account `{user}`"))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A program that will run as this account, with an empty environment: `PG*` variables of the caller would lead
    /// Postgres's tools astray. `std` drops the caller's groups when it changes the user.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", SEARCH_PATH)
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            command.uid(self.uid).gid(self.gid);
        }
        command
    }

    /// Gives a directory to this account and closes it to all others.
    pub(super) fn take(&self, directory: &Path) -> anyhow::Result<()> {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))
            .and_then(|()| chown(directory, Some(self.uid), Some(self.gid)))
            .with_context(|| format!("cannot give {} to `{}`", directory.display(), self.name))
    }

    /// Creates a directory of this account's own, mode 0700; one that exists must be this account's already.
    ///
    /// # Errors
    /// It cannot be created, or someone else put something there.
    pub(super) fn create_private(&self, directory: &Path) -> anyhow::Result<()> {
        match fs::create_dir(directory) {
            Ok(()) => self.take(directory),
            Err(_) if self.owns(directory) => Ok(()),
            Err(error) => {
                Err(error).with_context(|| format!("cannot create {}", directory.display()))
            }
        }
    }

    fn owns(&self, directory: &Path) -> bool {
        fs::symlink_metadata(directory)
            .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == self.uid)
    }

    /// Makes sure that this account can pass through a directory and everything above it.
    ///
    /// # Errors
    /// One line that names the closed directory and says what to do.
    pub(super) fn reach(&self, directory: &Path) -> anyhow::Result<()> {
        for step in directory.ancestors() {
            let metadata = fs::metadata(step)
                .with_context(|| format!("cannot look into {}", step.display()))?;
            let passable = if metadata.uid() == self.uid {
                0o100
            } else if metadata.gid() == self.gid {
                0o010
            } else {
                0o001
            };
            if metadata.mode() & passable == 0 {
                bail!(
                    "the user `{0}`, as whom Postgres runs, cannot enter {1}: choose a --data-dir elsewhere, such as \
                     /var/lib/gatehouse, or open the way with `chmod o+x {1}`",
                    self.name,
                    step.display()
                );
            }
        }
        Ok(())
    }
}

/// Reads `uid=101(postgres) gid=104(postgres) groups=...`.
fn parse_id(line: &str) -> Option<Account> {
    let mut fields = line.split_whitespace();
    let (uid, name) = fields
        .next()?
        .strip_prefix("uid=")?
        .strip_suffix(')')?
        .split_once('(')?;
    let gid = fields.next()?.strip_prefix("gid=")?;
    let gid = gid.split_once('(').map_or(gid, |(number, _)| number);
    Some(Account {
        name: name.to_owned(),
        uid: uid.parse().ok()?,
        gid: gid.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_of_id_is_read() {
        let account =
            parse_id("uid=101(postgres) gid=104(postgres) groups=104(postgres)\n").unwrap();
        assert_eq!(
            (account.name.as_str(), account.uid, account.gid),
            ("postgres", 101, 104)
        );
        assert_eq!(
            parse_id("uid=7(a) gid=8 groups=8").map(|account| account.gid),
            Some(8)
        );
        assert!(
            parse_id("uid=4711 gid=4711 groups=4711").is_none(),
            "a uid without an account"
        );
        assert!(parse_id("").is_none());
    }

    #[test]
    fn a_closed_directory_on_the_way_is_named() {
        let temporary = tempfile::tempdir().unwrap();
        let inner = temporary.path().join("inner");
        fs::create_dir(&inner).unwrap();
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let stranger = Account {
            name: "stranger".into(),
            uid: 54_321,
            gid: 54_321,
        };
        let refused = stranger.reach(&inner).unwrap_err().to_string();
        assert!(
            refused.contains(&temporary.path().display().to_string()),
            "{refused}"
        );
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o711)).unwrap();
        stranger.reach(&inner).unwrap();
    }
}
