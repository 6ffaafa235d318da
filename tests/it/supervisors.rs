//! What supervisors learn from a process: `gatehouse healthcheck` for containers, and messages for systemd.

use std::{
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram as StdDatagram},
    },
    process::{Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::PgPool;
use tempfile::TempDir;
use tokio::{net::UnixDatagram, time::timeout};

use crate::support::{SOON, eventually, free_address, gatehouse, run};

/// Asks a process. Returns whether it is well, and what else was printed.
fn healthcheck(pool: &PgPool, metrics: &str, options: &[&str]) -> (bool, String) {
    let mut command = gatehouse(pool);
    command.env("GATEHOUSE_METRICS_LISTEN", metrics);
    command.arg("healthcheck").args(options);
    if !options.contains(&"--timeout-seconds") {
        // The machine may be busy.
        command.args(["--timeout-seconds", "60"]);
    }
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    (output.status.success(), told)
}

/// The next message for systemd that contains `wanted`. Returns also those before it.
async fn told(systemd: &UnixDatagram, wanted: &str) -> String {
    let mut told = String::new();
    let mut buffer = [0; 4_096];
    while !told.contains(wanted) {
        let message = timeout(SOON, systemd.recv(&mut buffer)).await;
        let length = message.unwrap_or_else(|_| panic!("no {wanted}: {told}"));
        told += str::from_utf8(&buffer[..length.unwrap()]).unwrap();
        told.push('\n');
    }
    told
}

/// Removes all tables. A new database may have the schema already (`scripts/with-postgres --schema`).
async fn empty(pool: &PgPool) {
    let statement = "drop schema if exists queue, ops cascade; drop schema public cascade; create schema public";
    sqlx::raw_sql(statement).execute(pool).await.unwrap();
}

async fn is_supervised(pool: &PgPool, command: &str, name: &str, systemd: &UnixDatagram) {
    empty(pool).await;
    let port = free_address().port();
    let metrics = format!("0.0.0.0:{port}");
    let mut process: Command = gatehouse(pool);
    process
        .arg(command)
        .env("GATEHOUSE_METRICS_LISTEN", &metrics)
        .env("GATEHOUSE_LISTEN", "127.0.0.1:0")
        .env("NOTIFY_SOCKET", name);
    // A test that fails leaves no process.
    let mut process = tokio::process::Command::from(process)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let pid = process.id().and_then(|id| Pid::from_raw(id.cast_signed()));

    let before = told(systemd, "gatehouse migrate").await;
    assert!(before.contains("STATUS=not ready: "), "{before}");
    assert!(!before.contains("READY=1"), "{before}");
    let alive = async || healthcheck(pool, &metrics, &["--alive"]).0.then_some(());
    eventually("the process is alive", SOON, alive).await;
    let (is_ready, reason) = healthcheck(pool, &metrics, &[]);
    assert!(
        !is_ready && reason.contains("gatehouse migrate"),
        "{reason}"
    );

    run(pool, &["migrate"]);
    told(systemd, "READY=1").await;
    let (is_ready, reason) = healthcheck(pool, &metrics, &[]);
    assert!(is_ready, "{reason}");

    kill_process(pid.unwrap(), Signal::TERM).unwrap();
    let stopping = told(systemd, "STOPPING=1").await;
    assert!(!stopping.contains("READY=1"), "{stopping}");
    let stopped = eventually("it stops", SOON, async || process.try_wait().unwrap()).await;
    assert!(stopped.success());
    let (is_alive, reason) = healthcheck(pool, &metrics, &["--alive"]);
    assert!(!is_alive && reason.contains("nothing answers"), "{reason}");
}

#[sqlx::test(migrations = false)]
async fn a_worker_says_when_it_is_ready_and_when_it_stops(pool: PgPool) {
    let directory = TempDir::new().unwrap();
    let socket = directory.path().join("notify");
    let systemd = UnixDatagram::bind(&socket).unwrap();
    is_supervised(&pool, "worker", socket.to_str().unwrap(), &systemd).await;
}

#[sqlx::test(migrations = false)]
async fn an_interface_says_so_on_an_abstract_socket(pool: PgPool) {
    let name = format!("gatehouse-test-{}", free_address().port());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let systemd = StdDatagram::bind_addr(&address).unwrap();
    systemd.set_nonblocking(true).unwrap();
    let systemd = UnixDatagram::from_std(systemd).unwrap();
    is_supervised(&pool, "api", &format!("@{name}"), &systemd).await;
}

#[sqlx::test(migrations = false)]
async fn a_process_that_does_not_answer_is_not_healthy(pool: PgPool) {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let (is_ready, reason) = healthcheck(&pool, &address, &["--timeout-seconds", "1"]);
    assert!(
        !is_ready && reason.contains("did not answer within 1s"),
        "{reason}"
    );
}
