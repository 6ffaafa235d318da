//! A Postgres cluster of the benchmark's own: durable, fresh, reachable only through a socket in a private directory, and
//! gone afterwards. Gatehouse connects as the role `gatehouse`, the benchmark as `postgres`, so that the statements of the
//! two can be told apart.

mod disk;
mod machine;
mod standby;

use std::{
    fs::{self, File},
    io::Write as _,
    net::SocketAddr,
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

use crate::procfs;

pub(crate) use self::machine::{account_name, find_binaries};
use self::{disk::Disk, machine::Account};

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
    /// Holds `run`, the log, and usually `data`, of the account that Postgres runs as.
    directory: PathBuf,
    data: PathBuf,
    port: u16,
    account: Option<Account>,
    server: Option<Child>,
    /// Where the data is when it has a filesystem of its own.
    disk: Option<Disk>,
}

impl Cluster {
    /// Makes a cluster in `directory`, which is created, and starts it.
    ///
    /// # Errors
    /// Postgres's programs are not there, or it does not start; its log is in `directory`.
    pub(crate) async fn start(binaries: &Path, directory: PathBuf) -> anyhow::Result<Self> {
        Self::at(binaries, directory, PORT)?.establish("").await
    }

    /// Makes a cluster that listens on a port of 127.0.0.1, too, with settings besides.
    ///
    /// # Errors
    /// As `start`.
    pub(crate) async fn start_on(
        binaries: &Path,
        directory: PathBuf,
        address: SocketAddr,
        settings: &str,
    ) -> anyhow::Result<Self> {
        let settings = format!("listen_addresses = '{}'\n{settings}", address.ip());
        Self::at(binaries, directory, address.port())?
            .establish(&settings)
            .await
    }

    /// The directories of a cluster.
    fn at(binaries: &Path, directory: PathBuf, port: u16) -> anyhow::Result<Self> {
        let account = Account::choose()?;
        let cluster = Self {
            binaries: binaries.to_owned(),
            data: directory.join("data"),
            directory,
            port,
            account,
            server: None,
            disk: None,
        };
        for own in [&cluster.directory, &cluster.socket()] {
            fs::create_dir(own)?;
            fs::set_permissions(own, fs::Permissions::from_mode(0o700))?;
            if let Some(account) = account {
                chown(own, Some(account.uid), Some(account.gid))?;
            }
        }
        Ok(cluster)
    }

    async fn establish(mut self, settings: &str) -> anyhow::Result<Self> {
        self.initialise(settings)?;
        self.serve().await?;
        let mut admin = PgConnection::connect(&self.url_of(Role::Postgres, "postgres")).await?;
        for statement in [
            "create role gatehouse login",
            "create database gatehouse owner gatehouse",
        ] {
            sqlx::query(statement).execute(&mut admin).await?;
        }
        admin.close().await?;
        let mut own = self.connect().await?;
        sqlx::query("create extension pg_stat_statements")
            .execute(&mut own)
            .await?;
        own.close().await?;
        Ok(self)
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
            "postgres://localhost/{database}?host={}&port={}&user={role}&sslmode=disable",
            self.socket().display(),
            self.port
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
            .args(["--port", &self.port.to_string()]);
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

    /// Kills all processes of the server with SIGKILL, as when its machine loses power. It is not started again.
    pub(crate) fn kill(&mut self) -> anyhow::Result<()> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        let children = procfs::children(server.id())?;
        server.kill()?;
        for child in children.into_iter().filter_map(Pid::from_raw) {
            // It may have seen its parent die.
            let _ = kill_process(child, Signal::KILL);
        }
        server.wait()?;
        Ok(())
    }

    /// Whether the server ended though nobody stopped it.
    pub(crate) fn has_died(&mut self) -> bool {
        self.server
            .as_mut()
            .is_some_and(|server| !matches!(server.try_wait(), Ok(None)))
    }

    /// Leaves its files where they are, also those on a filesystem of their own.
    pub(crate) fn keep(&mut self) {
        if let Some(disk) = &mut self.disk {
            disk.keep();
        }
    }

    /// The number of the server's first process, whose children are all others; none while it does not run.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    fn socket(&self) -> PathBuf {
        self.directory.join("run")
    }

    fn initialise(&self, settings: &str) -> anyhow::Result<()> {
        let made = self
            .command("initdb")
            .arg("--pgdata")
            .arg(&self.data)
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
        self.configure(&format!("{SETTINGS}{settings}"))
    }

    /// Adds settings, which win over those before, and where the server is to be found.
    fn configure(&self, settings: &str) -> anyhow::Result<()> {
        let mut file = File::options()
            .append(true)
            .open(self.data.join("postgresql.conf"))?;
        let (socket, port) = (self.socket(), self.port);
        writeln!(
            file,
            "{settings}\nunix_socket_directories = '{}'\nport = {port}",
            socket.display()
        )?;
        Ok(())
    }

    /// Starts the server unless it runs, and waits until it lets somebody in.
    ///
    /// # Errors
    /// It does not start.
    pub(crate) async fn serve(&mut self) -> anyhow::Result<()> {
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
            .arg(&self.data)
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
