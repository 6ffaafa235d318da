//! Running `gatehouse api` processes, several on one database.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket},
    ops::Range,
    process::{Child, Command, ExitStatus},
    sync::Mutex,
    time::Duration,
};

use reqwest::Client;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};
use serde_json::Value;
use sqlx::PgPool;

use super::{commands::gatehouse, eventually, http, most_memory, open_files};

const START: Duration = Duration::from_mins(3);
/// Longer than draining and the last requests take.
const STOP: Duration = Duration::from_mins(2);

/// The process. Dropping it kills it.
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

    /// Starts one with more options.
    pub(crate) async fn with(pool: &PgPool, options: &[&str]) -> Self {
        Self::launch(gatehouse(pool), options).await
    }

    /// Starts one with a prepared command.
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

    /// A POST to one of its operations. Returns the status and the body.
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

    /// The most memory that it has held so far, in bytes.
    pub(crate) fn most_memory(&self) -> u64 {
        most_memory(self.child.id())
    }

    /// Limits its open files to the present number, and returns this number.
    pub(crate) fn freeze_files(&self) -> usize {
        let files = open_files(self.child.id());
        let limit = Rlimit {
            current: Some(files.try_into().unwrap()),
            maximum: getrlimit(Resource::Nofile).maximum,
        };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).unwrap();
        files
    }

    /// Sends SIGKILL.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Sends SIGTERM, and waits until the process has ended with success.
    pub(crate) async fn stop(&mut self) {
        self.terminate();
        let status = self.ended().await;
        assert!(status.success(), "{status}");
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Waits until the process has ended.
    pub(crate) async fn ended(&mut self) -> ExitStatus {
        eventually("the interface stops", STOP, async || {
            self.child.try_wait().unwrap()
        })
        .await
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

/// The ports that tests give to processes. The system picks no port below 32,768 by itself, for a
/// connection or for a listener of another test, and `scripts/with-postgres` uses those before these.
const PORTS: Range<u16> = 26_000..32_768;

/// The UDP ports with the numbers that this test has taken. No other test takes such a number as
/// long as this one lasts.
static TAKEN: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());

/// An address whose port is free, and stays free for a process that this test starts.
pub(crate) fn free_address() -> SocketAddr {
    loop {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, rand::random_range(PORTS)));
        let Ok(taken) = UdpSocket::bind(address) else {
            continue;
        };
        if TcpListener::bind(address).is_ok() {
            TAKEN.lock().unwrap().push(taken);
            return address;
        }
    }
}
