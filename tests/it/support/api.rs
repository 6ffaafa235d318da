//! Running `gatehouse api` processes, several on one database, and a site that they all serve.

use std::{
    net::{SocketAddr, TcpListener},
    process::{Child, Command, Stdio},
    time::Duration,
};

use reqwest::Client;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;
use sqlx::{ConnectOptions as _, PgPool};

use super::{eventually, http, most_memory, open_files, up::UNSET};

const START: Duration = Duration::from_secs(30);
/// Lingering and draining, and some.
const STOP: Duration = Duration::from_secs(40);
/// 32 bytes in base64; what they are does not matter.
pub(crate) const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// The process; killed when dropped.
pub(crate) struct Api {
    child: Child,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    pub(crate) metrics_url: String,
    /// Ends with `/functions/v1`.
    pub(crate) base_url: String,
    pub(crate) http: Client,
}

impl Api {
    /// Starts one on free ports and waits until it is ready.
    pub(crate) async fn start(pool: &PgPool) -> Self {
        Self::with(pool, &[]).await
    }

    /// Starts one with these options besides.
    pub(crate) async fn with(pool: &PgPool, options: &[&str]) -> Self {
        Self::launch(gatehouse(pool), options).await
    }

    /// Starts one as `gatehouse` prepared it.
    pub(crate) async fn launch(gatehouse: Command, options: &[&str]) -> Self {
        Self::launch_at(free_address(), gatehouse, options).await
    }

    /// Starts one that listens on this address.
    pub(crate) async fn launch_at(
        listen: SocketAddr,
        mut gatehouse: Command,
        options: &[&str],
    ) -> Self {
        let metrics = free_address();
        let child = gatehouse
            .arg("api")
            .args(["--listen", &listen.to_string()])
            .args(["--metrics-listen", &metrics.to_string()])
            .args(options)
            .spawn()
            .unwrap();
        let api = Self {
            child,
            address: listen,
            metrics_url: format!("http://{metrics}/metrics"),
            base_url: format!("http://{listen}/functions/v1"),
            http: http(),
        };
        let ready = format!("http://{listen}/readyz");
        eventually("the interface is ready", START, async || {
            let answer = api.http.get(&ready).send().await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await;
        api
    }

    /// A POST to one of its operations; the status and the body.
    pub(crate) async fn post(
        &self,
        operation: &str,
        idempotency_key: Option<&str>,
        body: &Value,
    ) -> reqwest::Result<(u16, Value)> {
        let mut request = self
            .http
            .post(format!("{}/{operation}", self.base_url))
            .json(body);
        if let Some(key) = idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        let answer = request.send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    /// The most memory that it ever held, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        most_memory(self.child.id())
    }

    /// Lets it have no more files open than it has, and says how many.
    pub(crate) fn freeze_files(&self) -> usize {
        let files = open_files(self.child.id());
        let limit = Rlimit {
            current: Some(files.try_into().unwrap()),
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
        files
    }

    /// SIGKILL.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// SIGTERM; waits until the process has ended well.
    pub(crate) async fn stop(&mut self) {
        self.signal(Signal::TERM);
        let status = eventually("the interface stops", STOP, async || {
            self.child.try_wait().unwrap()
        })
        .await;
        assert!(status.success(), "{status}");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the command line has made.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) webhook_secret: String,
}

/// Brings the database to the schema, and makes a team with a site.
pub(crate) fn new_site(pool: &PgPool) -> Site {
    run(pool, &["migrate"]);
    let team = admin(pool, &["create-team", "--name", "team"]);
    let team = text(&team, "team_id");
    let site = admin(pool, &["create-site", "--team", &team, "--name", "site"]);
    let id = text(&site, "site_id");
    let key = admin(pool, &["create-key", "--site", &id]);
    Site {
        key: text(&key, "site_key"),
        webhook_secret: text(&site, "webhook_secret"),
        id,
    }
}

/// Brings the database to the schema, and makes a team with a site; its key.
pub(crate) fn site_key(pool: &PgPool) -> String {
    new_site(pool).key
}

/// What `gatehouse admin` prints.
pub(crate) fn admin(pool: &PgPool, arguments: &[&str]) -> Value {
    let output = run(pool, &[&["admin", "--json"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

pub(crate) fn text(made: &Value, name: &str) -> String {
    made[name].as_str().unwrap().to_owned()
}

/// The standard output of a command that succeeds on this database.
pub(crate) fn run(pool: &PgPool, arguments: &[&str]) -> Vec<u8> {
    let mut command = gatehouse(pool);
    let output = command
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    output.stdout
}

/// The program, told of this database and a master key, and otherwise as the surroundings do not have it.
pub(crate) fn gatehouse(pool: &PgPool) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gatehouse"));
    for variable in UNSET {
        command.env_remove(variable);
    }
    command
        .env(
            "DATABASE_URL",
            pool.connect_options().to_url_lossy().as_str(),
        )
        .env("GATEHOUSE_MASTER_KEY", MASTER_KEY)
        .env("GATEHOUSE_DATABASE_CONNECTIONS", "4")
        .env("GATEHOUSE_LINGER_SECONDS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
}
