//! A Postgres cluster for one benchmark: durable, fresh, reachable only through a socket in a
//! private directory, and removed afterwards. Gatehouse connects as the role `gatehouse`, the
//! benchmark as `postgres`, so that the statements of the two can be distinguished.

mod backup;
mod disk;
mod machine;
mod server;
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
};

use anyhow::{Context as _, ensure};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use self::{disk::Disk, machine::Account};
pub(crate) use self::{
    machine::{account_name, find_binaries},
    server::Stop,
};

const PORT: u16 = 5432;
/// The database that Gatehouse uses.
pub(crate) const DATABASE: &str = "gatehouse";
/// The settings of the private Postgres of `gatehouse up`, and those that measurements need.
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
    /// Postgres's programs are missing, or it does not start. Its log is in `directory`.
    pub(crate) async fn start(binaries: &Path, directory: PathBuf) -> anyhow::Result<Self> {
        Self::at(binaries, directory, PORT)?.establish("").await
    }

    /// Makes a cluster with additional settings that also listens on a port of 127.0.0.1.
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

    /// Appends settings, which override earlier ones, and the server's socket and port.
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

    fn socket(&self) -> PathBuf {
        self.directory.join("run")
    }

    /// A program that runs as the cluster's account, in its own process group, so that Ctrl-C
    /// reaches only the benchmark.
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
}
