//! The well-behaved team: it submits at a steady rate and changes a small rule group once a second.

mod edit;
mod verdict_times;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures::future::join_all;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use self::verdict_times::told;
use crate::{
    http::{self, Answer, Client, Silence},
    latency::{Latencies, Percentiles},
    load::{Ticks, ticks},
    receiver::Receiver,
    sites::Site,
    texts::Texts,
};

/// How long an answer or a webhook may take after the last submission was due. Later ones count as
/// lost.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often per second the benchmark checks whether it is late itself.
const LOOKS: f64 = 100.0;

/// The team, and its server.
pub(super) struct Victim {
    pub(super) api: SocketAddr,
    pub(super) token: String,
    pub(super) sites: Vec<Site>,
    pub(super) texts: Texts,
    pub(super) rate: f64,
    pub(super) connections: usize,
}

/// What the team observed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Felt {
    /// From the time a submission was due to its answer, whatever the answer was.
    pub(super) submit: Percentiles,
    /// From the time an accepted submission was due to the arrival of its `media.moderated`.
    pub(super) verdict: Percentiles,
    /// From the time the creation of a rule group was due to its answer.
    pub(super) edit: Percentiles,
    /// Submissions that were not accepted, by cause.
    pub(super) submissions_failed: BTreeMap<String, u64>,
    /// Rule groups that could not be made or deleted, by cause.
    pub(super) edits_failed: BTreeMap<String, u64>,
    /// Accepted submissions whose webhook did not come in time.
    pub(super) untold: u64,
    /// How late the benchmark itself was when it had something to do.
    pub(super) own_lateness: Percentiles,
}

struct Sent {
    media: Uuid,
    due: Instant,
}

#[derive(Deserialize)]
struct Accepted {
    id: Uuid,
}

#[derive(Default)]
struct Failures(RefCell<BTreeMap<String, u64>>);

impl Failures {
    fn add(&self, what: String) {
        *self.0.borrow_mut().entry(what).or_default() += 1;
    }
}

impl Victim {
    /// Submits and edits for this number of seconds.
    pub(super) async fn live(&self, receiver: &Receiver, seconds: u64) -> anyhow::Result<Felt> {
        receiver.clear();
        let end = Instant::now() + Duration::from_secs(seconds) + PATIENCE;
        let (submissions, edits) = (Failures::default(), Failures::default());
        let ((sent, submit), edit, own_lateness) = tokio::join!(
            self.submit(seconds, end, &submissions),
            self.edit(seconds, end, &edits),
            lateness(seconds),
        );
        let (verdict, untold) = told(receiver, &sent, end).await?;
        Ok(Felt {
            submit: submit.percentiles(),
            verdict: verdict.percentiles(),
            edit: edit.percentiles(),
            submissions_failed: submissions.0.into_inner(),
            edits_failed: edits.0.into_inner(),
            untold,
            own_lateness: own_lateness.percentiles(),
        })
    }

    async fn submit(
        &self,
        seconds: u64,
        end: Instant,
        failures: &Failures,
    ) -> (Vec<Sent>, Latencies) {
        let ticks = Ticks::start(self.rate, ticks(self.rate, seconds));
        let shared = RefCell::new((Vec::new(), Latencies::new()));
        let clients = (0..self.connections).map(|_| async {
            let mut client = Client::new(self.api);
            while let Some(tick) = ticks.next().await {
                let answer = if Instant::now() < end {
                    within(end, client.send(&self.request(tick.index))).await
                } else {
                    Err("no connection was free for it".to_owned())
                };
                let (sent, latencies) = &mut *shared.borrow_mut();
                latencies.record(tick.due.elapsed());
                let accepted = answer.and_then(|answer| read(&answer));
                match accepted {
                    Ok(media) => sent.push(Sent {
                        media,
                        due: tick.due,
                    }),
                    Err(failure) => failures.add(failure),
                }
            }
        });
        join_all(clients).await;
        shared.into_inner()
    }

    fn request(&self, number: u64) -> Vec<u8> {
        let site = &self.sites[usize::try_from(number).unwrap_or(0) % self.sites.len()];
        let text = &self.texts.get(number).body;
        http::submission(&site.key, &format!("neighbour-{number}"), text)
    }
}

/// An answer before the end, or the reason why there is none.
async fn within(
    end: Instant,
    answer: impl Future<Output = Result<Answer, Silence>>,
) -> Result<Answer, String> {
    match tokio::time::timeout_at(end.into(), answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Silence::Unreachable(error))) => Err(format!("no connection: {}", error.kind())),
        Ok(Err(Silence::Broken(error))) => Err(format!("no answer: {}", error.kind())),
        Err(_) => Err("no answer in time".to_owned()),
    }
}

fn read(answer: &Answer) -> Result<Uuid, String> {
    let body = expect(200, answer)?;
    let accepted: Result<Accepted, _> = serde_json::from_slice(body);
    Ok(accepted.map_err(|_| "a 200 without an id".to_owned())?.id)
}

fn expect(status: u16, answer: &Answer) -> Result<&[u8], String> {
    if answer.status == status {
        Ok(&answer.body)
    } else {
        Err(answer.outcome())
    }
}

/// How late the benchmark's own thread and runtime are. This is part of every other figure.
async fn lateness(seconds: u64) -> Latencies {
    let ticks = Ticks::start(LOOKS, ticks(LOOKS, seconds));
    let mut latencies = Latencies::new();
    while let Some(tick) = ticks.next().await {
        latencies.record(tick.due.elapsed());
    }
    latencies
}
