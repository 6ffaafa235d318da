//! The files of the private Postgres: its database directory, created once, and its configuration,
//! written at every start.
//!
//! ```text
//! <data-dir>/postgres/            the database, mode 0700
//! <data-dir>/run/                 the socket, likewise
//! <data-dir>/postgres.conf        settings; `postgres.local.conf` beside it may override all but the durable ones
//! <data-dir>/postgres.hba.conf    who may connect: over the socket, the users of `postgres.ident.conf`
//! <data-dir>/postgres.url         for `psql "$(cat postgres.url)"`
//! ```

mod configuration;
mod initialise;
mod socket;

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use super::binaries::{Binaries, SUPPORTED};
use crate::{
    data_dir::{Audience, DATABASE_URL, DataDir, foreign},
    system_account::SystemAccount,
};
use configuration::{ACCESS, CONFIGURATION, IDENTITIES, access, configuration, identities};
use initialise::{discard_drafts, initialise};
use socket::{PORT, create_private, socket_directory, url};

/// The name of the database, of its owner, and in the ident map.
const NAME: &str = "gatehouse";
const DATABASE: &str = "postgres";

/// A database directory that is ready to be served.
#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) binaries: Binaries,
    pub(super) directory: PathBuf,
    /// In a directory that no other server uses.
    pub(super) socket: PathBuf,
    pub(super) configuration: PathBuf,
    pub(super) url: String,
}

impl Cluster {
    /// Creates the database directory if there is none, and writes the configuration.
    ///
    /// # Errors
    /// One line that says what to do. Nothing that exists is deleted.
    pub(super) async fn prepare(data: &DataDir) -> anyhow::Result<Self> {
        let directory = data.join(DATABASE);
        discard_drafts(data);
        let account = SystemAccount::current()?;
        let major = existing_version(&directory)?;
        if major.is_some() {
            require_own(&directory, &account)?;
        }
        let binaries = Binaries::locate(data, major).await?;
        if major.is_none() {
            initialise(data, &binaries, &directory).await?;
        }
        let socket = socket_directory(data);
        create_private(&socket, &account)?;
        data.write(
            CONFIGURATION,
            configuration(data, &binaries, &socket).as_bytes(),
            Audience::Everyone,
        )?;
        data.write(ACCESS, access().as_bytes(), Audience::Everyone)?;
        data.write(
            IDENTITIES,
            identities(account.name()).as_bytes(),
            Audience::Everyone,
        )?;
        let url = url(&socket);
        data.write(DATABASE_URL, format!("{url}\n").as_bytes(), Audience::Owner)?;
        Ok(Self {
            binaries,
            directory,
            socket: socket.join(format!(".s.PGSQL.{PORT}")),
            configuration: data.join(CONFIGURATION),
            url,
        })
    }
}

/// The major version that created an existing database. `None` if there is no database.
fn existing_version(directory: &Path) -> anyhow::Result<Option<u32>> {
    if !directory.exists() {
        return Ok(None);
    }
    let version = fs::read_to_string(directory.join("PG_VERSION")).ok();
    match version.and_then(|version| version.trim().parse().ok()) {
        Some(major) if SUPPORTED.contains(&major) => Ok(Some(major)),
        Some(major) => bail!(
            "the database in {} was made by PostgreSQL {major}, Gatehouse needs {} to {}: bring it to one of these with \
             pg_upgrade, or choose another directory with --data-dir",
            directory.display(),
            SUPPORTED.start(),
            SUPPORTED.end()
        ),
        None => bail!(
            "{} is not a PostgreSQL database (no readable PG_VERSION in it): move it away, restore it from a backup, \
             or choose another directory with --data-dir",
            directory.display()
        ),
    }
}

/// What to do about a complaint of Postgres, for the end of an error line.
pub(super) fn advice(complaint: &str) -> &'static str {
    if complaint.contains("No space left on device") || complaint.contains("could not extend file")
    {
        "; free some space, or choose another directory with --data-dir"
    } else if complaint.contains("Permission denied") {
        "; correct the owner and mode of the files, or choose another directory with --data-dir"
    } else {
        "; if its files are damaged, restore them from a backup or choose another directory with --data-dir (nothing \
         was deleted)"
    }
}

/// Refuses a directory of another user. Postgres would refuse it, too, but would not say what to
/// do.
fn require_own(directory: &Path, account: &SystemAccount) -> anyhow::Result<()> {
    let owner = fs::metadata(directory)
        .with_context(|| format!("cannot look at {}", directory.display()))?
        .uid();
    if owner == account.uid().as_raw() {
        Ok(())
    } else {
        Err(foreign(directory, owner, account.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::{configuration::quoted, *};

    #[test]
    fn a_path_with_odd_characters_survives_the_url_and_the_configuration() {
        let odd = Path::new("/tmp/it's 100% ü");
        assert_eq!(quoted(odd), "'/tmp/it''s 100% ü'");
        assert!(
            url(odd).contains("host=/tmp/it%27s%20100%25%20%C3%BC&"),
            "{}",
            url(odd)
        );
    }

    #[test]
    fn a_directory_without_a_database_in_it_is_refused_and_left_alone() {
        let temporary = tempfile::tempdir().unwrap();
        assert_eq!(
            existing_version(&temporary.path().join("absent")).unwrap(),
            None
        );
        fs::write(temporary.path().join("PG_VERSION"), "garbage\0").unwrap();
        let refused = existing_version(temporary.path()).unwrap_err().to_string();
        assert!(
            refused.contains("--data-dir") && !refused.contains('\n'),
            "{refused}"
        );
        fs::write(temporary.path().join("PG_VERSION"), "15\n").unwrap();
        assert_eq!(existing_version(temporary.path()).unwrap(), Some(15));
    }
}
