//! What the tests of the whole service share: running processes, servers that they call, and
//! waiting with a deadline. Everything that a test starts here ends with the test, even if the test
//! panics.

mod api;
mod commands;
mod data_dir;
mod leftovers;
mod perspective;
mod provider;
mod providers;
mod receiver;
mod scripted_server;
mod servers;
mod short_way;
mod up;
mod worker;

use std::time::{Duration, Instant};

pub(crate) use api::{Api, free_address};
pub(crate) use commands::{
    MASTER_KEY, Site, admin, gatehouse, new_site, run, site_key, text, unset,
};
pub(crate) use data_dir::DataDir;
pub(crate) use perspective::FakePerspective;
pub(crate) use provider::{FakeProvider, Fault, Mode, RIGHT, UNSCORED, Wire};
pub(crate) use providers::Panel;
pub(crate) use receiver::{Received, Receiver};
pub(crate) use scripted_server::{Act, ScriptedServer, picture};
pub(crate) use servers::nobody;
pub(crate) use short_way::short_way;
pub(crate) use up::Up;
pub(crate) use worker::Worker;

/// Far longer than what a test waits for takes, on a slow machine under load too: a test that waits for longer will wait for ever.
pub(crate) const SOON: Duration = Duration::from_mins(3);

const POLL: Duration = Duration::from_millis(20);

/// Asks repeatedly until there is an answer.
///
/// # Panics
/// If there is none `within` this time. The message contains `what`.
pub(crate) async fn eventually<T>(
    what: &str,
    within: Duration,
    mut ask: impl AsyncFnMut() -> Option<T>,
) -> T {
    let deadline = Instant::now() + within;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "{what}: not within {within:?}");
        tokio::time::sleep(POLL).await;
    }
}

/// The most memory that a process has held so far, in bytes.
fn most_memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap() << 10
}

/// The most memory that this process has held so far, in bytes.
pub(crate) fn memory_so_far() -> u64 {
    most_memory(std::process::id())
}

/// The number of a process's open files.
fn open_files(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd"))
        .unwrap()
        .count()
}

/// An HTTP client that gives up after a minute.
pub(crate) fn http() -> reqwest::Client {
    // The client cannot be built without TLS, although everything here is plain HTTP. A second
    // installation fails, which does no harm: the first one is used. Nor are certificates needed: to read those of the machine
    // takes so long that a server gives up on the connections of other clients meanwhile.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .timeout(SOON)
        .tls_certs_only([])
        .no_proxy()
        .build()
        .expect("TLS has a provider")
}
