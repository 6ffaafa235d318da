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

use std::{
    fs::{self, DirBuilder},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _},
    path::{Path, PathBuf},
    process,
};

use anyhow::{Context as _, bail};
use tracing::info;

use super::binaries::{Binaries, SUPPORTED};
use crate::{
    data_dir::{Audience, DATABASE_URL, DataDir, foreign},
    system_account::SystemAccount,
};

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

const CONFIGURATION: &str = "postgres.conf";

const ACCESS: &str = "postgres.hba.conf";

const IDENTITIES: &str = "postgres.ident.conf";

fn configuration(data: &DataDir, binaries: &Binaries, socket: &Path) -> String {
    let statistics = if binaries.has_library("pg_stat_statements") {
        "pg_stat_statements"
    } else {
        ""
    };
    format!(
        "# Written by Gatehouse at every start; put changes into postgres.local.conf beside this file.

max_connections = 200
shared_buffers = 256MB
effective_cache_size = 1GB
work_mem = 8MB
maintenance_work_mem = 128MB
shared_preload_libraries = '{statistics}'

# Short statements on a few hot tables: compiling or splitting them costs more than it saves.
jit = off
max_parallel_workers_per_gather = 0
random_page_cost = 1.1

# Few, large checkpoints: a page is logged whole only once after each.
checkpoint_timeout = 15min
max_wal_size = 2GB
min_wal_size = 256MB
wal_buffers = 16MB

# A queue table turns over quickly: look for dead rows often.
autovacuum_naptime = 10s

timezone = 'UTC'
log_timezone = 'UTC'
lc_messages = 'C'
log_line_prefix = ''
log_checkpoints = off

include_if_exists = 'postgres.local.conf'

# From here on nothing is a matter of taste: what was answered with 200 survives a power cut,
fsync = on
synchronous_commit = on
full_page_writes = on
# nobody but the owner of this directory gets in,
listen_addresses = ''
port = {PORT}
unix_socket_directories = {socket}
unix_socket_permissions = 0700
hba_file = {access}
ident_file = {identities}
# and Gatehouse reads what Postgres says, which has no texts of items: the DETAIL of an error has the values of a row.
log_destination = 'stderr'
logging_collector = off
log_error_verbosity = terse
log_parameter_max_length_on_error = 0
",
        socket = quoted(socket),
        access = quoted(&data.join(ACCESS)),
        identities = quoted(&data.join(IDENTITIES)),
    )
}

fn access() -> String {
    format!("local all all peer map={NAME}\nlocal replication all peer map={NAME}\n")
}

/// The user who runs Gatehouse can connect as the owner of the database. So can root, who can
/// become any user anyway.
fn identities(user: &str) -> String {
    [user, "root"]
        .map(|name| format!("{NAME} \"{name}\" {NAME}\n"))
        .concat()
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "''"))
}

/// Runs `initdb` in a directory with a temporary name. It gets its real name when everything in it
/// is on the disk, so an interrupted `initdb` leaves nothing that looks like a database.
async fn initialise(data: &DataDir, binaries: &Binaries, directory: &Path) -> anyhow::Result<()> {
    info!(version = binaries.major(), directory = %directory.display(), "creating the database");
    let draft = data.join(&format!("{DATABASE}.new-{}", process::id()));
    DirBuilder::new()
        .mode(0o700)
        .create(&draft)
        .with_context(|| format!("cannot create {}", draft.display()))?;
    let output = binaries
        .command("initdb")
        .arg("--pgdata")
        .arg(&draft)
        .args([
            &format!("--username={NAME}"),
            "--auth=peer",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
        ])
        .args(["--data-checksums", "--no-instructions"])
        .kill_on_drop(true)
        .output()
        .await
        .context("cannot run initdb")?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let complaint = errors
            .lines()
            .find_map(complaint)
            .or_else(|| errors.lines().last())
            .unwrap_or("it gave no reason");
        discard_drafts(data);
        bail!(
            "cannot create a database in {}: {complaint}{}",
            data.path().display(),
            advice(complaint)
        );
    }
    fs::rename(&draft, directory)
        .and_then(|()| data.sync())
        .with_context(|| format!("cannot create {}", directory.display()))
}

/// The complaint in a line of `initdb`, without the time at the beginning of the line.
fn complaint(line: &str) -> Option<&str> {
    let mark = ["error:", "FATAL:", "PANIC:"]
        .iter()
        .find_map(|mark| line.find(mark))?;
    line.get(mark..)
}

/// Removes what an interrupted `initdb` left. What cannot be removed does no harm.
fn discard_drafts(data: &DataDir) {
    let Ok(entries) = fs::read_dir(data.path()) else {
        return;
    };
    for entry in entries.filter_map(Result::ok) {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(&format!("{DATABASE}.new-"))
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The port names the socket `.s.PGSQL.5432`. Nothing listens on TCP.
const PORT: u16 = 5432;

/// The kernel's limit is 107 bytes for the whole path of a socket.
const LONGEST_SOCKET_DIRECTORY: usize = 107 - "/.s.PGSQL.5432".len();

/// The directory of the socket: in the data directory, or a private one in `/tmp` if the path is
/// too long.
fn socket_directory(data: &DataDir) -> PathBuf {
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
fn create_private(directory: &Path, account: &SystemAccount) -> anyhow::Result<()> {
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
fn url(socket: &Path) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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
