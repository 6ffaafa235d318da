//! A Postgres cluster of the benchmark's own: durable, fresh, reachable only through a socket in a private directory, and
//! gone afterwards. Gatehouse connects as the role `gatehouse`, the benchmark as `postgres`, so that the statements of the
//! two can be told apart.

mod machine;

use std::{
    fs::{self, File},
    os::unix::{
        fs::{PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use self::machine::Account;
pub(crate) use self::machine::find_binaries;

const PORT: u16 = 5432;
/// The database that Gatehouse uses.
pub(crate) const DATABASE: &str = "gatehouse";
const START: Duration = Duration::from_mins(1);
const STOP: Duration = Duration::from_secs(30);

/// The settings of the private Postgres of `gatehouse up`, and whatever the measurement needs beside them.
const SETTINGS: &str = "
listen_addresses = ''
unix_socket_permissions = 0777
max_connections = 300
shared_buffers = 256MB
effective_cache_size = 1GB
work_mem = 8MB
maintenance_work_mem = 128MB
jit = off
max_parallel_workers_per_gather = 0
random_page_cost = 1.1
checkpoint_timeout = 15min
max_wal_size = 2GB
min_wal_size = 256MB
wal_buffers = 16MB
autovacuum_naptime = 10s
fsync = on
synchronous_commit = on
full_page_writes = on
shared_preload_libraries = 'pg_stat_statements'
pg_stat_statements.track = 'top'
";

/// How Postgres is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Sessions are ended, transactions rolled back, everything written.
    Fast,
    /// As in a crash: recovery at the next start.
    Immediate,
}

impl Stop {
    const fn signal(self) -> Signal {
        match self {
            Self::Fast => Signal::INT,
            Self::Immediate => Signal::QUIT,
        }
    }
}

/// Who connects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Role {
    /// The service that is measured.
    Gatehouse,
    /// The benchmark.
    Postgres,
}

/// A running cluster; it is stopped when dropped.
pub(crate) struct Cluster {
    binaries: PathBuf,
    /// Holds `data`, `run` and the log, of the account that Postgres runs as.
    directory: PathBuf,
    account: Option<Account>,
    server: Option<Child>,
}

impl Cluster {
    /// Makes a cluster in `directory`, which is created, and starts it.
    ///
    /// # Errors
    /// Postgres's programs are not there, or it does not start; its log is in `directory`.
    pub(crate) async fn start(binaries: &Path, directory: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir(&directory)?;
        let account = Account::choose()?;
        let run = directory.join("run");
        fs::create_dir(&run)?;
        for own in [&directory, &run] {
            fs::set_permissions(own, fs::Permissions::from_mode(0o700))?;
            if let Some(account) = account {
                chown(own, Some(account.uid), Some(account.gid))?;
            }
        }
        let mut cluster = Self {
            binaries: binaries.to_owned(),
            directory,
            account,
            server: None,
        };
        cluster.initialise()?;
        cluster.serve().await?;
        let mut admin = PgConnection::connect(&cluster.url_of(Role::Postgres, "postgres")).await?;
        for statement in [
            "create role gatehouse login",
            "create database gatehouse owner gatehouse",
        ] {
            sqlx::query(statement).execute(&mut admin).await?;
        }
        admin.close().await?;
        let mut own = cluster.connect().await?;
        sqlx::query("create extension pg_stat_statements")
            .execute(&mut own)
            .await?;
        own.close().await?;
        Ok(cluster)
    }

    /// The database for the service.
    pub(crate) fn url(&self, role: Role) -> String {
        self.url_of(role, DATABASE)
    }

    /// Another database of the same server.
    pub(crate) fn url_of(&self, role: Role, database: &str) -> String {
        let role = match role {
            Role::Gatehouse => "gatehouse",
            Role::Postgres => "postgres",
        };
        // The host in front is ignored in favour of the directory, but Node's client insists on one.
        format!(
            "postgres://localhost/{database}?host={}&port={PORT}&user={role}&sslmode=disable",
            self.socket().display()
        )
    }

    /// A connection of the benchmark's own.
    pub(crate) async fn connect(&self) -> anyhow::Result<PgConnection> {
        self.connect_to(DATABASE).await
    }

    /// A connection of the benchmark's own to another database.
    pub(crate) async fn connect_to(&self, database: &str) -> anyhow::Result<PgConnection> {
        Ok(PgConnection::connect(&self.url_of(Role::Postgres, database)).await?)
    }

    /// Makes another database that the service's role owns.
    pub(crate) async fn create_database(&self, name: &'static str) -> anyhow::Result<()> {
        let create = format!("create database {name} owner gatehouse");
        let mut conn = self.connect().await?;
        sqlx::query(AssertSqlSafe(create))
            .execute(&mut conn)
            .await?;
        Ok(conn.close().await?)
    }

    /// A program of Postgres's, with the options that connect it here as the service's role.
    pub(crate) fn client(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command
            .env_clear()
            .arg("--host")
            .arg(self.socket())
            .args(["--port", &PORT.to_string()]);
        command.args(["--username", "gatehouse"]);
        command
    }

    /// Stops the server and starts it again.
    pub(crate) async fn restart(&mut self, stop: Stop) -> anyhow::Result<()> {
        if let Some(server) = self.signal(stop)? {
            let asked = Instant::now();
            while server.try_wait()?.is_none() {
                ensure!(asked.elapsed() < STOP, "Postgres does not stop");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        }
        self.serve().await
    }

    /// Whether the server ended though nobody stopped it.
    pub(crate) fn has_died(&mut self) -> bool {
        self.server
            .as_mut()
            .is_some_and(|server| !matches!(server.try_wait(), Ok(None)))
    }

    /// The number of the server's first process, whose children are all others; none while it does not run.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    fn socket(&self) -> PathBuf {
        self.directory.join("run")
    }

    fn initialise(&self) -> anyhow::Result<()> {
        let data = self.directory.join("data");
        let made = self
            .command("initdb")
            .arg("--pgdata")
            .arg(&data)
            .args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C.UTF-8",
                "--data-checksums",
            ])
            .output()
            .context("cannot run initdb")?;
        ensure!(
            made.status.success(),
            "initdb failed: {}",
            String::from_utf8_lossy(&made.stderr)
        );
        let configuration = data.join("postgresql.conf");
        let mut settings = fs::read_to_string(&configuration)?;
        settings.push_str(SETTINGS);
        let sockets = format!("unix_socket_directories = '{}'\n", self.socket().display());
        settings.push_str(&sockets);
        fs::write(configuration, settings)?;
        Ok(())
    }

    async fn serve(&mut self) -> anyhow::Result<()> {
        let started = Instant::now();
        let url = self.url_of(Role::Postgres, "postgres");
        loop {
            // After a crash the old shared memory may still be in use for a moment: then it is tried again.
            if self.server.is_none() || self.has_died() {
                self.server = Some(self.spawn()?);
            }
            match PgConnection::connect(&url).await {
                Ok(connection) => return Ok(connection.close().await?),
                Err(error) if started.elapsed() > START => bail!(
                    "Postgres does not start: {error}; its log is {}",
                    self.directory.join("postgres.log").display()
                ),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn spawn(&self) -> anyhow::Result<Child> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.directory.join("postgres.log"))?;
        self.command("postgres")
            .arg("-D")
            .arg(self.directory.join("data"))
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot run postgres")
    }

    /// A program that runs as the cluster's account, in a process group of its own: Ctrl-C is for the benchmark alone.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.binaries.join(program));
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C");
        command
            .current_dir("/")
            .stdin(Stdio::null())
            .process_group(0);
        if let Some(account) = self.account {
            command.uid(account.uid).gid(account.gid);
        }
        command
    }

    /// Asks the server to stop, if there is one.
    fn signal(&mut self, stop: Stop) -> anyhow::Result<Option<&mut Child>> {
        if let Some(server) = &mut self.server
            && server.try_wait()?.is_none()
        {
            kill_process(Pid::from_child(server), stop.signal())?;
        }
        Ok(self.server.as_mut())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Ok(Some(server)) = self.signal(Stop::Immediate) else {
            return;
        };
        let asked = Instant::now();
        while matches!(server.try_wait(), Ok(None)) {
            if asked.elapsed() > STOP {
                eprintln!("Postgres did not stop and is killed");
                let _ = server.kill();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}
