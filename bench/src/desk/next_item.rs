//! The next item in the console: a person decides, is redirected, and has the next page.

use std::{io, net::SocketAddr};

use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use uuid::Uuid;

use super::{claims::Claims, fill::Moderator};
use crate::{
    http::{Answer, Client},
    latency::{Latencies, Percentiles},
    load::Ticks,
};

/// The console, and who works there.
pub(super) struct NextItem<'a> {
    console: SocketAddr,
    claims: &'a Claims<'a>,
}

/// A signed-in person's browser.
struct Browser<'a> {
    client: Client,
    person: &'a Moderator,
}

impl<'a> NextItem<'a> {
    pub(super) fn new(console: SocketAddr, claims: &'a Claims<'a>) -> Self {
        Self { console, claims }
    }

    /// Everybody begins with the first tick, and decides with each later one. Measured is the time from when the decision was due to
    /// the last byte of the next item's page.
    pub(super) async fn run(&self, ticks: &Ticks) -> anyhow::Result<Percentiles> {
        let people = self.claims.filled.moderators.iter();
        let people = people.map(|person| self.work(person, ticks));
        let mut merged = Latencies::new();
        for own in try_join_all(people).await? {
            merged.merge(&own);
        }
        ensure!(merged.count() > 0, "nobody has decided twice");
        Ok(merged.percentiles())
    }

    async fn work(&self, person: &Moderator, ticks: &Ticks) -> anyhow::Result<Latencies> {
        let desk = format!("/t/{}/desk", self.claims.filled.team);
        let mut browser = Browser {
            client: Client::new(self.console),
            person,
        };
        let mut latencies = Latencies::new();
        let mut has: Option<Uuid> = None;
        while let Some(tick) = ticks.next().await {
            let answer = match has {
                None => browser.post(&format!("{desk}/claim"), "").await?,
                Some(review) => {
                    let path = format!("{desk}/{review}/decision");
                    browser.post(&path, &self.decision(tick.index)).await?
                }
            };
            let place = answer.location.context("a redirect leads nowhere")?;
            browser.get(&place).await?;
            if has.is_some() {
                latencies.record(tick.due.elapsed());
            }
            let id = place.split(['/', '?']).nth(4).unwrap_or_default();
            let next: Uuid = id.parse().with_context(|| format!("no review: {place}"))?;
            self.claims.ledger.enter(next, person.member);
            has = Some(next);
        }
        // Nobody keeps a review, so that the next part begins as this one did.
        if let Some(review) = has {
            self.claims.approve(person.member, review).await?;
        }
        Ok(latencies)
    }

    /// Every third decision rejects.
    fn decision(&self, number: u64) -> String {
        match number % 3 {
            0 => format!("decision=reject&policy={}", self.claims.filled.policy),
            _ => "decision=approve".to_owned(),
        }
    }
}

impl Browser<'_> {
    async fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: gatehouse\r\ncookie: __Host-gatehouse={}\r\n\r\n",
            self.person.session
        );
        let answer = self
            .client
            .send(request.as_bytes())
            .await
            .map_err(io::Error::from)?;
        ensure!(
            answer.status == 200,
            "GET {path} was answered with {}",
            answer.status
        );
        Ok(answer)
    }

    /// Sends a form of the console's own pages, and expects a redirect.
    async fn post(&mut self, path: &str, form: &str) -> anyhow::Result<Answer> {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: gatehouse\r\ncookie: __Host-gatehouse={}\r\nsec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            self.person.session,
            form.len()
        );
        let answer = self
            .client
            .send(request.as_bytes())
            .await
            .map_err(io::Error::from)?;
        ensure!(
            answer.status == 303,
            "POST {path} was answered with {}",
            answer.status
        );
        Ok(answer)
    }
}
