//! The receiver must have got what is stored.

use std::collections::HashMap;

use domain::{event::EventKind, media::Status};
use sqlx::Row as _;
use uuid::Uuid;

use super::Audit;

/// A delivery as it is stored.
struct Told {
    delivery: Uuid,
    event: Uuid,
}

impl Audit<'_> {
    pub(super) async fn webhooks(&mut self) -> anyhow::Result<()> {
        let rows = sqlx::query(
            "
            select e.media_id, e.kind, e.id as event, d.id as delivery
            from events e
            join deliveries d on d.event_id = e.id
            ",
        )
        .fetch_all(&mut self.conn)
        .await?;
        let mut told = HashMap::new();
        for row in &rows {
            let kind: EventKind = row.get::<&str, _>("kind").parse()?;
            let own = Told {
                delivery: row.get("delivery"),
                event: row.get("event"),
            };
            told.insert((row.get::<Uuid, _>("media_id"), kind), own);
        }

        let seen = self.stack.receiver.seen();
        let mut missing = Vec::new();
        let mut wrong = Vec::new();
        for (id, item) in &self.stored {
            for kind in EventKind::ALL {
                let name = format!("{kind} of {id}");
                let Some(arrival) = seen.by_event.get(&(*id, *kind)) else {
                    missing.push(name);
                    continue;
                };
                let status = match kind {
                    EventKind::MediaCreated => Status::Pending,
                    EventKind::MediaModerated => item.status,
                };
                let site = item
                    .submission
                    .as_ref()
                    .map(|own| self.customers.site(own.number));
                let is_told = told.get(&(*id, *kind)).is_some_and(|own| {
                    own.delivery == arrival.delivery && own.event == arrival.event
                });
                if arrival.status != status || site != Some(arrival.site) || !is_told {
                    wrong.push(name);
                }
            }
        }
        let invented: Vec<String> = seen
            .by_event
            .keys()
            .filter(|(id, _)| !self.stored.contains_key(id))
            .map(|(id, _)| id.to_string())
            .collect();
        let complaints: Vec<String> = seen
            .examples
            .iter()
            .cloned()
            .chain((seen.examples.len() as u64..seen.complaints).map(|_| String::new()))
            .collect();
        drop(seen);
        self.expect("both webhooks of every item arrived", missing);
        self.expect("webhooks tell what is stored", wrong);
        self.expect("no webhook is about something not stored", invented);
        self.expect("signatures and repetitions are right", complaints);
        Ok(())
    }
}
