//! The team changes a small rule group once a second.

use std::{cell::RefCell, time::Instant};

use futures::future::join_all;
use serde_json::json;
use uuid::Uuid;

use super::{Accepted, Failures, Victim, expect, within};
use crate::{
    http::{self, Client},
    latency::Latencies,
    load::{Ticks, ticks},
};

/// Rule groups that are made and deleted a second.
const EDITS: f64 = 1.0;
/// How many of them may run at once.
const EDITORS: usize = 4;

impl Victim {
    /// Makes a small rule group and deletes it again, every second.
    pub(super) async fn edit(&self, seconds: u64, end: Instant, failures: &Failures) -> Latencies {
        let ticks = Ticks::start(EDITS, ticks(EDITS, seconds));
        let latencies = RefCell::new(Latencies::new());
        let editors = (0..EDITORS).map(|_| async {
            let mut client = Client::new(self.api);
            while let Some(tick) = ticks.next().await {
                let edited = if Instant::now() < end {
                    self.edit_once(&mut client, end, tick.due, &latencies).await
                } else {
                    Err("no connection was free for it".to_owned())
                };
                if let Err(failure) = edited {
                    failures.add(failure);
                }
            }
        });
        join_all(editors).await;
        latencies.into_inner()
    }

    async fn edit_once(
        &self,
        client: &mut Client,
        end: Instant,
        due: Instant,
        latencies: &RefCell<Latencies>,
    ) -> Result<(), String> {
        let group = json!({
            "name": format!("Small {}", Uuid::now_v7()),
            "rules": [{ "name": "A word", "type": "keyword", "keywords": ["blockedword"], "effect": "review" }],
        });
        let request = http::managed("POST", "/rule-groups", &self.token, Some(&group));
        let made = within(end, client.send(&request)).await;
        latencies.borrow_mut().record(due.elapsed());
        let made = expect(201, &made?).and_then(|body| {
            let made = serde_json::from_slice(body);
            made.map_err(|_| "an answer without an id".to_owned())
        });
        let Accepted { id } = made?;
        let path = format!("/rule-groups/{id}");
        let request = http::managed("DELETE", &path, &self.token, None);
        let deleted = within(end, client.send(&request)).await?;
        expect(204, &deleted).map(drop)
    }
}
