//! The customers. They submit at a steady rate, remember accepted submissions, and submit the
//! others again.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io,
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail, ensure};
use futures::future::try_join_all;
use serde::Deserialize;
use uuid::Uuid;

use crate::{
    http::{self, Answer, Client, Silence},
    load::Ticks,
    sites::Site,
    stack::Stack,
    texts::{Text, Texts},
};

/// A text that is not accepted within this time ends the run.
const PATIENCE: Duration = Duration::from_mins(2);
const PAUSE: Duration = Duration::from_millis(50);
/// How often customers look at `/readyz`.
const LOOK: Duration = Duration::from_secs(1);

/// Who submits, and where.
pub(crate) struct Customers {
    pub(crate) apis: Vec<SocketAddr>,
    pub(crate) sites: Vec<Site>,
    pub(crate) seed: u64,
    pub(crate) connections: usize,
    /// The API processes that get requests, if at least one is ready.
    pub(crate) ready: RefCell<Vec<bool>>,
}

impl Customers {
    /// The customers of all sites. They also send to dead processes, unless [`look`] says which are ready.
    pub(crate) fn of(stack: &Stack, seed: u64, connections: usize) -> Self {
        Self {
            apis: stack.apis.iter().map(|api| api.address).collect(),
            sites: stack.sites.clone(),
            seed,
            connections,
            ready: RefCell::new(vec![true; stack.apis.len()]),
        }
    }
}

/// What the customers know. A submission is known by its `app_media_id`, which is of this submission only.
#[derive(Default)]
pub(crate) struct Ledger {
    /// Answered with a 200: the item's id, and the submission.
    pub(crate) accepted: HashMap<Uuid, Submission>,
    /// Without an answer, or with one that promises nothing: stored or not.
    pub(crate) unknown: Vec<Submission>,
    /// How often no server could be reached.
    pub(crate) unsent: u64,
    /// The longest that an answer took.
    pub(crate) slowest: Duration,
}

impl Ledger {
    /// The number of the first text after all that are in it.
    pub(crate) fn next_number(&self) -> u64 {
        let submissions = self.accepted.values().chain(&self.unknown);
        submissions
            .map(|submission| submission.number + 1)
            .max()
            .unwrap_or(0)
    }

    /// Records an answer or its absence, and how long it took. Returns the item's id if it was
    /// accepted. An unknown submission must not be submitted again as the same item.
    fn note(
        &mut self,
        submission: &mut Submission,
        meaning: Meaning,
        took: Duration,
    ) -> anyhow::Result<Option<Uuid>> {
        self.slowest = self.slowest.max(took);
        match meaning {
            Meaning::Accepted(id) => {
                let before = self.accepted.insert(id, submission.clone());
                ensure!(
                    before.is_none(),
                    "two submissions were answered with the id {id}"
                );
                return Ok(Some(id));
            }
            Meaning::NotSent => self.unsent += 1,
            Meaning::Unknown => {
                self.unknown.push(submission.clone());
                submission.attempt += 1;
            }
        }
        Ok(None)
    }
}

/// One submission of a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Submission {
    /// Which text.
    pub(crate) number: u64,
    /// Which submission of it, from 0.
    pub(crate) attempt: u32,
}

impl Submission {
    /// The `app_media_id`.
    pub(crate) fn tag(&self) -> String {
        format!("{}.{}", self.number, self.attempt)
    }

    /// Reads an `app_media_id`.
    pub(crate) fn parse(tag: &str) -> Option<Self> {
        let (number, attempt) = tag.split_once('.')?;
        Some(Self {
            number: number.parse().ok()?,
            attempt: attempt.parse().ok()?,
        })
    }
}

#[derive(Deserialize)]
struct Accepted {
    id: Uuid,
    status: String,
}

/// What an answer, or its absence, means.
#[derive(Clone, Copy)]
enum Meaning {
    Accepted(Uuid),
    /// Nothing reached a server.
    NotSent,
    Unknown,
}

impl Customers {
    /// The text of this number.
    pub(crate) fn text(&self, number: u64) -> Text {
        Texts::new(self.seed).get(number)
    }

    /// The place of the site that a text is submitted for.
    pub(crate) fn site(&self, number: u64) -> usize {
        usize::try_from(number).unwrap_or(0) % self.sites.len()
    }

    /// Submits a text with each tick, until it is accepted.
    ///
    /// # Errors
    /// A refusal that the chaos did not cause, or a text that is never accepted.
    pub(crate) async fn submit(
        &self,
        ticks: &Ticks,
        ledger: &RefCell<Ledger>,
    ) -> anyhow::Result<()> {
        let clients = (0..self.connections).map(|first| {
            let ticks = ticks.clone();
            async move {
                let mut clients: Vec<Client> = self.apis.iter().copied().map(Client::new).collect();
                // The next API process. The connections together use all of them equally.
                let mut turn = first;
                while let Some(tick) = ticks.next().await {
                    self.submit_one(tick.index, &mut clients, &mut turn, ledger)
                        .await?;
                }
                anyhow::Ok(())
            }
        });
        try_join_all(clients).await?;
        Ok(())
    }

    /// Submits one to a certain API process until it is accepted.
    pub(crate) async fn submit_to(
        &self,
        api: usize,
        number: u64,
        ledger: &RefCell<Ledger>,
    ) -> anyhow::Result<Uuid> {
        let mut clients = [Client::new(self.apis[api])];
        self.submit_one(number, &mut clients, &mut 0, ledger).await
    }

    async fn submit_one(
        &self,
        number: u64,
        clients: &mut [Client],
        turn: &mut usize,
        ledger: &RefCell<Ledger>,
    ) -> anyhow::Result<Uuid> {
        let start = Instant::now();
        let body = self.text(number).body;
        let key = &self.sites[self.site(number)].key;
        let mut submission = Submission { number, attempt: 0 };
        while start.elapsed() < PATIENCE {
            let request = http::submission(key, &submission.tag(), &body);
            *turn = self.next_ready(*turn, clients.len());
            let sent = Instant::now();
            let meaning = meaning(clients[*turn].send(&request).await)?;
            if let Some(id) = ledger
                .borrow_mut()
                .note(&mut submission, meaning, sent.elapsed())?
            {
                return Ok(id);
            }
            tokio::time::sleep(PAUSE).await;
        }
        bail!("nobody accepts the text {number}")
    }

    /// The place of the next ready one of so many; of the next one if none is.
    fn next_ready(&self, turn: usize, count: usize) -> usize {
        let ready = self.ready.borrow();
        let mut places = (1..=count).map(|step| (turn + step) % count);
        places
            .find(|place| ready[*place])
            .unwrap_or((turn + 1) % count)
    }
}

/// Looks which API processes are ready, as customers and load balancers do.
pub(crate) async fn look(customers: &Customers, finished: &Cell<bool>) -> anyhow::Result<()> {
    let mut clients: Vec<Client> = customers.apis.iter().copied().map(Client::new).collect();
    let request = http::get("/readyz");
    while !finished.get() {
        for (place, client) in clients.iter_mut().enumerate() {
            let ready = matches!(client.send(&request).await, Ok(answer) if answer.status == 200);
            customers.ready.borrow_mut()[place] = ready;
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

fn meaning(answer: Result<Answer, Silence>) -> anyhow::Result<Meaning> {
    match answer {
        Ok(Answer {
            status: 200, body, ..
        }) => {
            let accepted: Accepted =
                serde_json::from_slice(&body).context("a 200 that cannot be read")?;
            ensure!(
                accepted.status == "pending",
                "an item was accepted as {}",
                accepted.status
            );
            Ok(Meaning::Accepted(accepted.id))
        }
        // Postgres is down, but the submission may have been stored.
        Ok(Answer { status: 500.., .. }) => Ok(Meaning::Unknown),
        Ok(Answer { status, body, .. }) => bail!(
            "a submission was refused: {status} {}",
            String::from_utf8_lossy(&body)
        ),
        Err(Silence::Unreachable(_)) => Ok(Meaning::NotSent),
        // The server did not die, but sent nonsense.
        Err(Silence::Broken(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Err(error.into())
        }
        Err(Silence::Broken(_)) => Ok(Meaning::Unknown),
    }
}
