//! One round: submissions at a rate or at full speed, until their last webhook has come.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use domain::event::EventKind;
use futures::future::try_join_all;
use serde::Deserialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    Options,
    measured::{Drain, Round},
    resources::{Resources, Used},
};
use crate::{
    http::{self, Client},
    latency::Latencies,
    load::{self, Ticks, accepted, paced, ticks},
    postgres_cost::{self, Meter, empty_tables},
    stack::Stack,
    texts::Texts,
};

/// How many seconds of bare round trips precede each round, at its rate.
const BARE_SECONDS: u64 = 5;
/// How long the last webhooks may take.
const PATIENCE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(20);

pub(super) struct Flow<'a> {
    pub(super) options: &'a Options,
    pub(super) stack: Stack,
    pub(super) conn: PgConnection,
    pub(super) texts: Texts,
}

/// A submission that was accepted.
pub(super) struct Sent {
    pub(super) media: Uuid,
    pub(super) due: Instant,
    pub(super) answered: Instant,
}

#[derive(Deserialize)]
pub(super) struct Accepted {
    pub(super) id: Uuid,
}

impl Flow<'_> {
    pub(super) async fn round(&mut self) -> anyhow::Result<Round> {
        empty_tables(&mut self.conn).await?;
        let (rate, count) = (self.options.rate, ticks(self.options.rate, BARE_SECONDS));
        let mut client = Client::new(self.stack.apis[0].address);
        let healthz = http::get("/healthz");
        let bare_http = paced(rate, count, async || {
            accepted(&client.send(&healthz).await.map_err(std::io::Error::from)?)
        })
        .await?;
        let bare_sql = paced(rate, count, async || {
            sqlx::query("select 1").execute(&mut self.conn).await?;
            Ok(())
        })
        .await?;
        let meter = Meter::start(&mut self.conn).await?;
        let sent = self.at_rate(self.options.seconds).await?;
        let cost = meter.stop(&mut self.conn, sent.len() as u64).await?;
        let (mut submission, mut whole_way) = (Latencies::new(), Latencies::new());
        let seen = self.stack.receiver.seen();
        for Sent {
            media,
            due,
            answered,
        } in &sent
        {
            let arrival = seen
                .by_event
                .get(&(*media, EventKind::MediaModerated))
                .context("a webhook got lost")?;
            submission.record(*answered - *due);
            whole_way.record(arrival.first - *due);
        }
        Ok(Round {
            whole_way: whole_way.percentiles(),
            submission: submission.percentiles(),
            bare_http: bare_http.percentiles(),
            bare_sql: bare_sql.percentiles(),
            cost,
            drain: None,
        })
    }

    /// Submits at the fixed rate and waits for every webhook.
    pub(super) async fn at_rate(&mut self, seconds: u64) -> anyhow::Result<Vec<Sent>> {
        self.stack.receiver.clear();
        let count = ticks(self.options.rate, seconds);
        let sent = self.submit(&Ticks::start(self.options.rate, count)).await?;
        self.wait_for(count).await?;
        Ok(sent)
    }

    async fn submit(&self, ticks: &Ticks) -> anyhow::Result<Vec<Sent>> {
        let clients = (0..self.options.connections).map(|number| async move {
            let apis = &self.stack.apis;
            let mut client = Client::new(apis[number % apis.len()].address);
            let mut sent = Vec::new();
            while let Some(tick) = ticks.next().await {
                let request = self.request(tick.index);
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
            anyhow::Ok(sent)
        });
        Ok(try_join_all(clients).await?.into_iter().flatten().collect())
    }

    fn request(&self, number: u64) -> Vec<u8> {
        let site = &self.stack.sites[usize::try_from(number).unwrap_or(0) % self.stack.sites.len()];
        http::submission(&site.key, &format!("flow-{number}"), &self.text(number))
    }

    fn text(&self, number: u64) -> String {
        match self.options.reviews_percent {
            Some(percent) => self.texts.with_reviews(number, percent),
            None => self.texts.get(number).body,
        }
    }

    /// Submits as fast as the answers come, while the workers work, and waits for every webhook.
    pub(super) async fn drain(&mut self) -> anyhow::Result<Drain> {
        let items = self.options.drain_items;
        eprintln!("{items} items at full speed");
        empty_tables(&mut self.conn).await?;
        self.stack.receiver.clear();
        let meter = Meter::start(&mut self.conn).await?;
        let used = Used::read(&self.stack)?;
        let start = Instant::now();
        self.submit(&Ticks::at_once(items)).await?;
        let submitted = start.elapsed();
        self.wait_for(items).await?;
        let cost = meter.stop(&mut self.conn, items).await?;
        let reviews = sqlx::query_scalar("select count(*) from reviews")
            .fetch_one(&mut self.conn)
            .await?;
        let resources = Resources::since(used, &self.stack, &mut self.conn, items).await?;
        let seen = self.stack.receiver.seen();
        let last = seen
            .by_event
            .values()
            .map(|arrival| arrival.first)
            .max()
            .unwrap_or(start);
        Ok(Drain {
            items,
            reviews,
            submitted_rate: load::per_second(items, submitted),
            whole_rate: load::per_second(items, last - start),
            cost,
            resources,
        })
    }

    /// Waits until both webhooks of so many items came and no job is left, so that all their cost is counted.
    async fn wait_for(&mut self, items: u64) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let arrived = {
                let seen = self.stack.receiver.seen();
                ensure!(
                    seen.complaints == 0,
                    "the receiver complains: {}",
                    seen.examples.join("; ")
                );
                seen.by_event.len() as u64
            };
            if arrived == 2 * items && postgres_cost::jobs(&mut self.conn).await? == 0 {
                return Ok(());
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "{arrived} of {} webhooks came",
                2 * items
            );
            tokio::time::sleep(POLL).await;
        }
    }
}
