//! Submits texts to a site one after another, and measures how long their verdicts take to arrive.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use domain::event::EventKind;
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    http::{self, Client},
    latency::Latencies,
    load::{Ticks, accepted},
    sites::Site,
    stack::Stack,
};

/// How long the last webhook may take.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(20);

/// A submission that was accepted.
pub(crate) struct Sent {
    media: Uuid,
    due: Instant,
    answered: Instant,
}

#[derive(Deserialize)]
struct Accepted {
    id: Uuid,
}

/// Submits a text to a site with each tick. `text` makes one from a number.
pub(crate) async fn submit(
    address: SocketAddr,
    site: &Site,
    ticks: &Ticks,
    text: impl Fn(u64) -> String,
) -> anyhow::Result<Vec<Sent>> {
    let mut client = Client::new(address);
    let mut sent = Vec::new();
    while let Some(tick) = ticks.next().await {
        let request = http::submission(
            &site.key,
            &format!("item-{}", tick.index),
            &text(tick.index),
        );
        let answer = client.send(&request).await.map_err(std::io::Error::from)?;
        let answered = Instant::now();
        accepted(&answer)?;
        let Accepted { id } = serde_json::from_slice(&answer.body)?;
        sent.push(Sent {
            media: id,
            due: tick.due,
            answered,
        });
    }
    Ok(sent)
}

/// How long their answers took, from when they were due.
pub(crate) fn answers(sent: &[Sent]) -> Latencies {
    let mut latencies = Latencies::new();
    for Sent { due, answered, .. } in sent {
        latencies.record(*answered - *due);
    }
    latencies
}

/// Waits for the webhooks about all verdicts. Returns how long they took, from when their submissions were due.
pub(crate) async fn latencies(stack: &Stack, sent: &[Sent]) -> anyhow::Result<Latencies> {
    let begun = Instant::now();
    let key = |sent: &Sent| (sent.media, EventKind::MediaModerated);
    loop {
        {
            let seen = stack.receiver.seen();
            let mut awaited = sent.iter().map(key);
            if awaited.all(|key| seen.by_event.contains_key(&key)) {
                break;
            }
        }
        ensure!(begun.elapsed() < PATIENCE, "webhooks got lost");
        tokio::time::sleep(POLL).await;
    }
    let seen = stack.receiver.seen();
    let mut latencies = Latencies::new();
    for sent in sent {
        let arrival = seen.by_event.get(&key(sent));
        latencies.record(arrival.context("a webhook got lost")?.first - sent.due);
    }
    Ok(latencies)
}
