//! The baseline: the same client library sends requests of the same size to the same receiver, with
//! the same concurrency, and does nothing else. It runs in its own process, like a worker.

use std::{
    net::SocketAddr,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use domain::signature::{SignatureHeaders, SigningSecrets, WebhookSecret};
use reqwest::{
    Client,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT},
};
use serde_json::json;
use tokio::{process::Command, task::JoinSet};
use uuid::Uuid;

use super::url;
use crate::load::per_second;

/// Options of the process.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    receiver: SocketAddr,
    requests: u32,
    connections: usize,
}

/// Starts the process and reads how many requests it sent a second.
pub(super) async fn measure(
    receiver: SocketAddr,
    requests: u32,
    connections: usize,
) -> anyhow::Result<f64> {
    let sent = Command::new(std::env::current_exe()?)
        .arg("post")
        .arg(receiver.to_string())
        .arg(requests.to_string())
        .arg(connections.to_string())
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .output()
        .await?;
    ensure!(sent.status.success(), "the bare loop failed");
    String::from_utf8(sent.stdout)?
        .trim()
        .parse()
        .context("the bare loop says no number")
}

/// The process: prints requests a second.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .http1_only()
        .no_proxy()
        .pool_max_idle_per_host(options.connections)
        .timeout(Duration::from_secs(15))
        .build()?;
    let (headers, body) = request()?;
    let left = Arc::new(AtomicU32::new(options.requests));
    let begun = Instant::now();
    let mut senders = JoinSet::new();
    for number in 0..options.connections {
        let (client, headers, body) = (client.clone(), headers.clone(), body.clone());
        let (left, url) = (Arc::clone(&left), url(options.receiver, number % 8));
        senders.spawn(async move {
            let take = |left: u32| left.checked_sub(1);
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
            {
                let request = client.post(&url).headers(headers.clone());
                let answer = request.body(body.clone()).send().await?;
                answer.error_for_status()?.bytes().await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(ended) = senders.join_next().await {
        ended??;
    }
    println!("{}", per_second(options.requests.into(), begun.elapsed()));
    Ok(())
}

/// A request like those that are delivered.
fn request() -> anyhow::Result<(HeaderMap, bytes::Bytes)> {
    let id = Uuid::now_v7();
    let body = json!({
        "event": "media.created",
        "timestamp": "2026-01-31T12:00:00.123456Z",
        "data": {
            "media_id": id, "app_media_id": "item-10000", "site_id": id, "status": "pending", "content_type": "text",
            "created_at": "2026-01-31T12:00:00.123456Z", "metadata": { "author": "ada" },
        },
    })
    .to_string();
    let secrets = SigningSecrets {
        current: WebhookSecret::from_random([7; 32]),
        previous: None,
    };
    let signatures = SignatureHeaders::sign(&secrets, id.into(), 1_800_000_000, body.as_bytes());
    let id = id.to_string();
    let others = [
        ("x-service-event", "media.created"),
        ("x-service-delivery-id", &id),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in signatures.iter().chain(others) {
        headers.insert(
            HeaderName::from_bytes(name.as_bytes())?,
            HeaderValue::from_str(value)?,
        );
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhook/1.0"));
    Ok((headers, body.into()))
}
