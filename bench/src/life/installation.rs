//! One installation, and a round of everything that is asked of it.

use std::{fmt, time::Instant};

use anyhow::ensure;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::fill::{Filled, Size};
use crate::{
    http::{self, Client},
    latency::{Latencies, Percentiles},
    load::{Ticks, accepted, ticks},
    stack::Stack,
    texts::Texts,
    verdicts::{self, Sent},
};

/// The length of a submission's text.
const TEXT_BYTES: usize = 120;
/// Status queries a second, pages of a site's list a second, claims a second.
const QUERIES: f64 = 200.0;
const LISTS: f64 = 20.0;
const CLAIMS: f64 = 20.0;
/// Items on a page.
const PAGE: usize = 50;

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paces {
    pub(super) submissions: f64,
    pub(super) seconds: u64,
    pub(super) connections: usize,
}

/// An installation.
pub(super) struct Installation {
    pub(super) stack: Stack,
    pub(super) conn: PgConnection,
    pub(super) items: u32,
    pub(super) filled: Filled,
    pub(super) paces: Paces,
    pub(super) seed: u64,
    /// So that no two texts are the same.
    pub(super) submitted: u64,
}

/// What is told of an installation.
#[derive(Debug, Serialize)]
pub(super) struct Described {
    pub(super) items: u32,
    pub(super) database_bytes: i64,
    /// Bytes for each item.
    pub(super) sizes: Vec<Size>,
}

/// What a round found. Times count from when something was due, and those of claims from their sending.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Round {
    /// A submission, until its answer.
    pub(super) submit: Percentiles,
    /// Until the receiver has its verdict.
    pub(super) way: Percentiles,
    /// The status of an item of any age.
    pub(super) status: Percentiles,
    /// The newest items of a site.
    pub(super) list: Percentiles,
    /// `POST /management/v1/reviews/claim`. Every claimed review is decided.
    pub(super) claim: Percentiles,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            submit,
            way,
            status,
            list,
            claim,
        } = self;
        write!(
            f,
            "submit {submit}; to the webhook {way}; status {status}; list {list}; claim {claim}"
        )
    }
}

#[derive(Deserialize)]
struct Claimed {
    data: Vec<ClaimedReview>,
}

#[derive(Deserialize)]
struct ClaimedReview {
    id: Uuid,
}

impl Installation {
    /// Every part in turn.
    pub(super) async fn round(&mut self) -> anyhow::Result<Round> {
        let sent = self.submit(&self.ticks(self.paces.submissions)).await?;
        let (submit, way) = self.times(&sent).await?;
        let queries = self.filled.asked.iter();
        let queries: Vec<_> = queries
            .map(|(key, media)| http::status_query(key, *media))
            .collect();
        let status = self.ask(&self.ticks(QUERIES), &queries).await?;
        let lists = self.stack.sites.iter();
        let lists: Vec<_> = lists
            .map(|site| {
                let path = format!("/media?site_id={}&limit={PAGE}", site.id);
                http::managed("GET", &path, &self.filled.secret, None)
            })
            .collect();
        let list = self.ask(&self.ticks(LISTS), &lists).await?;
        let claim = self.claim(&self.ticks(CLAIMS)).await?;
        Ok(Round {
            submit,
            way,
            status,
            list,
            claim,
        })
    }

    fn ticks(&self, rate: f64) -> Ticks {
        Ticks::start(rate, ticks(rate, self.paces.seconds))
    }

    /// Submits with each tick.
    pub(super) async fn submit(&mut self, ticks: &Ticks) -> anyhow::Result<Vec<Sent>> {
        self.stack.receiver.clear();
        let texts = Texts::new(self.seed);
        let before = self.submitted;
        let address = self.stack.apis[0].address;
        let clients = (0..self.paces.connections).zip(self.stack.sites.iter().cycle());
        let clients = clients.map(|(_, site)| {
            verdicts::submit(address, site, ticks, move |index| {
                texts.plain(before + index, TEXT_BYTES)
            })
        });
        let sent: Vec<_> = try_join_all(clients).await?.into_iter().flatten().collect();
        self.submitted += sent.len() as u64;
        Ok(sent)
    }

    /// How long these took until their answers, and until their verdicts came.
    pub(super) async fn times(&self, sent: &[Sent]) -> anyhow::Result<(Percentiles, Percentiles)> {
        ensure!(!sent.is_empty(), "nothing was submitted");
        let way = verdicts::latencies(&self.stack, sent).await?;
        Ok((verdicts::answers(sent).percentiles(), way.percentiles()))
    }

    /// Sends the next of these requests with each tick.
    async fn ask(&self, ticks: &Ticks, requests: &[Vec<u8>]) -> anyhow::Result<Percentiles> {
        let clients = (0..self.paces.connections).map(|_| async {
            let mut client = Client::new(self.stack.apis[0].address);
            let mut latencies = Latencies::new();
            while let Some(tick) = ticks.next().await {
                let turn = usize::try_from(tick.index)? % requests.len();
                let answer = client.send(&requests[turn]).await;
                accepted(&answer.map_err(std::io::Error::from)?)?;
                latencies.record(tick.due.elapsed());
            }
            anyhow::Ok(latencies)
        });
        merged(&try_join_all(clients).await?)
    }

    /// Claims a review with each tick, and approves it.
    async fn claim(&self, ticks: &Ticks) -> anyhow::Result<Percentiles> {
        let secret = &self.filled.secret;
        let claim = http::managed(
            "POST",
            "/reviews/claim",
            secret,
            Some(&json!({ "limit": 1 })),
        );
        let mut client = Client::new(self.stack.apis[0].address);
        let mut latencies = Latencies::new();
        while ticks.next().await.is_some() {
            // The decision about the one before may have ended late.
            let begun = Instant::now();
            let answer = client.send(&claim).await.map_err(std::io::Error::from)?;
            latencies.record(begun.elapsed());
            accepted(&answer)?;
            let Claimed { data } = serde_json::from_slice(&answer.body)?;
            ensure!(data.len() == 1, "{} reviews were claimed", data.len());
            let path = format!("/reviews/{}/decision", data[0].id);
            let decision = json!({ "decision": "approve" });
            let decide = http::managed("POST", &path, secret, Some(&decision));
            accepted(&client.send(&decide).await.map_err(std::io::Error::from)?)?;
        }
        merged(&[latencies])
    }

    pub(super) fn described(&self) -> Described {
        Described {
            items: self.items,
            database_bytes: self.filled.database_bytes,
            sizes: self.filled.sizes.clone(),
        }
    }
}

fn merged(all: &[Latencies]) -> anyhow::Result<Percentiles> {
    let mut merged = Latencies::new();
    for own in all {
        merged.merge(own);
    }
    ensure!(merged.count() > 0, "nothing was measured");
    Ok(merged.percentiles())
}
