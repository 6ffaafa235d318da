//! What the receiver had got before the database was lost, compared with what came afterwards.

use std::collections::{HashMap, HashSet};

use domain::event::EventKind;
use serde::Serialize;
use sqlx::Row as _;
use uuid::Uuid;

use crate::{
    receiver::{Arrival, Key},
    stack::Stack,
};

/// Webhooks before and after the restore.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    #[serde(skip)]
    before: HashMap<Key, Arrival>,
    #[serde(skip)]
    items: HashSet<Uuid>,
    /// The events of the restored database, before any process started.
    #[serde(skip)]
    events: HashSet<Key>,
    /// Webhooks that came before and after, with the same ids and the same bytes.
    pub(super) again: usize,
    /// Webhooks that came before and after, about decisions that the backup did not contain: the
    /// item's id and the verdict are the same, and the ids of webhook and event are new.
    pub(super) anew: usize,
}

/// What should not have come.
pub(super) struct Wrong {
    /// The backup contained the event, and it came with other ids.
    pub(super) changed: Vec<String>,
    /// The decision differs from the one that was told before.
    pub(super) invented: Vec<String>,
}

impl Compared {
    /// Reads the restored database, and makes the receiver forget.
    pub(super) async fn begin(stack: &Stack) -> anyhow::Result<Self> {
        let mut conn = stack.environment.cluster.connect().await?;
        let items = sqlx::query_scalar("select id from media")
            .fetch_all(&mut conn)
            .await?;
        let rows = sqlx::query("select media_id, kind from events")
            .fetch_all(&mut conn)
            .await?;
        let events = rows.iter().map(|row| {
            let kind: EventKind = row.get::<&str, _>("kind").parse()?;
            anyhow::Ok((row.get("media_id"), kind))
        });
        let events = events.collect::<anyhow::Result<_>>()?;
        let before = stack.receiver.seen().by_event.clone();
        stack.receiver.clear();
        Ok(Self {
            before,
            items: items.into_iter().collect(),
            events,
            again: 0,
            anew: 0,
        })
    }

    /// Whether the restored database has the item.
    pub(super) fn has(&self, item: Uuid) -> bool {
        self.items.contains(&item)
    }

    /// Compares, and gives the receiver its memory back: of the items that still exist.
    pub(super) fn end(&mut self, stack: &Stack) -> Wrong {
        let mut wrong = Wrong {
            changed: Vec::new(),
            invented: Vec::new(),
        };
        let mut seen = stack.receiver.seen();
        for (key, arrival) in &self.before {
            let (item, kind) = key;
            if !self.items.contains(item) {
                continue;
            }
            let Some(later) = seen.by_event.get(key) else {
                seen.by_event.insert(*key, *arrival);
                continue;
            };
            let same = later.delivery == arrival.delivery && later.event == arrival.event;
            if same {
                self.again += 1;
            } else if self.events.contains(key) {
                wrong.changed.push(format!("{kind} of {item}"));
            } else if later.status == arrival.status {
                self.anew += 1;
            } else {
                wrong.invented.push(format!("{kind} of {item}"));
            }
        }
        wrong
    }
}
