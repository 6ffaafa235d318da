//! `gatehouse healthcheck`: asks the process on this machine whether it is ready. Images without a shell and without curl
//! use it as their check.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context as _, bail};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{
    Request, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{CONNECTION, HOST},
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, time};

use crate::config::{MetricsOptions, whole};

/// More than any answer of a probe, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;

/// The options of `gatehouse healthcheck`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(flatten)]
    metrics: MetricsOptions,
    /// Ask only whether the process answers (/healthz), not whether it is ready (/readyz)
    #[arg(long)]
    alive: bool,
    /// Seconds that the process has to answer
    #[arg(long, default_value_t = 3, value_parser = whole(1..=60_u64))]
    timeout_seconds: u64,
}

/// Succeeds if the process answers 200.
pub(crate) async fn run(options: Options) -> anyhow::Result<ExitCode> {
    let path = if options.alive { "/healthz" } else { "/readyz" };
    let address = local(options.metrics.metrics_listen);
    let timeout = Duration::from_secs(options.timeout_seconds);
    let Ok(asked) = time::timeout(timeout, ask(address, path)).await else {
        bail!("{address} did not answer within {timeout:?}");
    };
    let (status, body) = asked.with_context(|| {
        format!("nothing answers on {address}; if the process listens elsewhere, set GATEHOUSE_METRICS_LISTEN for both")
    })?;
    if status != StatusCode::OK {
        bail!("{}", reason(status, &body));
    }
    Ok(ExitCode::SUCCESS)
}

/// Where to reach a listener from this machine: a listener on all addresses also has the loopback address.
fn local(listener: SocketAddr) -> SocketAddr {
    let address = match listener.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address => address,
    };
    SocketAddr::new(address, listener.port())
}

async fn ask(address: SocketAddr, path: &str) -> anyhow::Result<(StatusCode, Bytes)> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::get(path)
        .header(HOST, address.to_string())
        .header(CONNECTION, "close")
        .body(Empty::<Bytes>::new())?;
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    Ok((status, read(answer.into_body()).await?))
}

async fn read(body: Incoming) -> anyhow::Result<Bytes> {
    let body = Limited::new(body, LONGEST_ANSWER).collect().await;
    Ok(body.map_err(anyhow::Error::from_boxed)?.to_bytes())
}

/// Why the process is not ready, in its own words.
fn reason(status: StatusCode, body: &[u8]) -> String {
    let problem: Value = serde_json::from_slice(body).unwrap_or_default();
    match problem.get("detail").and_then(Value::as_str) {
        Some(detail) => format!("not ready: {detail}"),
        None => format!("the process answered {status}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_asked_on_the_loopback_address() {
        for (listener, asked) in [
            ("0.0.0.0:9464", "127.0.0.1:9464"),
            ("[::]:9464", "[::1]:9464"),
            ("127.0.0.2:1", "127.0.0.2:1"),
            ("10.1.2.3:9464", "10.1.2.3:9464"),
        ] {
            let listener = listener.parse().unwrap();
            assert_eq!(local(listener).to_string(), asked);
        }
    }

    #[test]
    fn the_reason_is_the_one_that_the_process_gives() {
        let problem = br#"{"code":"not_ready","detail":"starting"}"#;
        let status = StatusCode::SERVICE_UNAVAILABLE;
        assert_eq!(reason(status, problem), "not ready: starting");
        assert!(reason(status, b"<html>").contains("503"));
    }
}
