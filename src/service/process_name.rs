//! What this process is called, for people who look for it.

use std::net::SocketAddr;

use queue::Process;
use rustix::system::uname;

/// This process. `metrics` is where its metrics are, and `connections` the most that it opens to Postgres.
pub(crate) fn process_name(role: &str, metrics: SocketAddr, connections: usize) -> Process {
    Process {
        host: Some(host()),
        pid: i32::try_from(std::process::id()).ok(),
        role: Some(role.to_owned()),
        metrics_address: Some(metrics.to_string()),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        connections: i32::try_from(connections).ok(),
    }
}

/// The name of this machine, container or pod.
pub(crate) fn host() -> String {
    uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_where_it_is() {
        let process = process_name("worker", "127.0.0.1:9464".parse().unwrap(), 26).bounded();
        let told = process.to_string();
        assert!(told.starts_with("worker on "), "{told}");
        let pid = format!(", pid {}, ", std::process::id());
        assert!(told.contains(&pid), "{told}");
        assert!(told.contains("metrics at 127.0.0.1:9464"), "{told}");
        assert!(!process.host.unwrap().is_empty());
    }
}
