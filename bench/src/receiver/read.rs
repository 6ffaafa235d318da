//! Verifies a request in both schemes and reads its content.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    time::{Instant, SystemTime},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use domain::{
    event::EventKind,
    media::Status,
    signature::{self, verify_service, verify_standard},
};
use hyper::HeaderMap;
use serde::Deserialize;
use uuid::Uuid;

use super::{
    Shared,
    arrivals::{Arrival, Key},
    lock,
};

#[derive(Deserialize)]
struct Envelope {
    event: EventKind,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    media_id: Uuid,
    status: Status,
}

/// Verifies a request in both schemes and reads its content.
pub(super) fn read(
    shared: &Shared,
    path: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> anyhow::Result<(Key, Arrival)> {
    let header = |name: &str| {
        let value = headers
            .get(name)
            .with_context(|| format!("no header {name}"))?;
        value
            .to_str()
            .with_context(|| format!("an unreadable header {name}"))
    };
    let site: usize = path
        .trim_start_matches('/')
        .parse()
        .with_context(|| format!("a request to {path}"))?;
    let secret = lock(&shared.secrets)
        .get(site)
        .cloned()
        .with_context(|| format!("a request to {path}"))?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)?
        .as_secs();
    verify_service(&secret, header(signature::SERVICE_SIGNATURE)?, body)
        .context("X-Service-Signature")?;
    let id = header(signature::STANDARD_ID)?;
    let timestamp = header(signature::STANDARD_TIMESTAMP)?;
    let signatures = header(signature::STANDARD_SIGNATURE)?;
    verify_standard(&secret, id, timestamp, signatures, body, now.cast_signed())
        .context("webhook-signature")?;
    let envelope: Envelope = serde_json::from_slice(body)?;
    ensure!(
        header("X-Service-Event")? == envelope.event.as_str(),
        "the header X-Service-Event names another event"
    );
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let arrival = Arrival {
        first: Instant::now(),
        times: 1,
        site,
        delivery: header("X-Service-Delivery-ID")?.parse()?,
        event: id.parse()?,
        status: envelope.data.status,
        body: hasher.finish(),
    };
    Ok(((envelope.data.media_id, envelope.event), arrival))
}
