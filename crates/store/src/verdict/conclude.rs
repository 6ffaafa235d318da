//! The only way to store and tell verdicts of machines and people: the item's status changes, the verdict
//! is stored, the list of items that wait for a person is updated, and an event goes to every
//! endpoint that wants it.

mod columns;
mod statement;

use chrono::{DateTime, Utc};
use domain::{
    id::{DeliveryId, EndpointId, MediaId},
    media::{ModerationType, Status, Step},
};
use metrics::{Counter, Histogram, counter, histogram};
use queue::NewJobs;
use sqlx::PgConnection;

use self::{
    columns::Columns,
    statement::{Decided, decide},
};
use crate::{
    analysis::Analysed,
    created_event::Created,
    jobs::{self, Pages, Turn},
};

/// A verdict to store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conclusion<'a> {
    /// The item.
    pub(crate) media: MediaId,
    /// The status that it must still have, and the status that it gets.
    pub(crate) step: Step,
    /// Who or what decided.
    pub(crate) moderation_type: ModerationType,
    /// `moderation_details` as JSON.
    pub(crate) details: &'a str,
    /// The trace as JSON.
    pub(crate) trace: &'a str,
    /// The analysis that it is based on, unless that is stored already.
    pub(crate) analysed: Option<&'a Analysed>,
    /// The acceptance, unless it was told already. It is told first.
    pub(crate) created: Option<&'a Created>,
}

/// Shows verdicts of these types as 0 from the start: a counter that first appears with its first
/// verdict shows no increase.
pub fn expect_none(types: &[ModerationType]) {
    for moderation_type in types {
        for status in Status::ALL
            .iter()
            .filter(|status| **status != Status::Pending)
        {
            decisions(status.to_string(), moderation_type.to_string()).increment(0);
        }
    }
    if types.iter().any(|by| *by != ModerationType::Manual) {
        let _shown = times();
    }
}

fn decisions(status: String, moderation_type: String) -> Counter {
    counter!("gatehouse_decisions_total", "status" => status, "type" => moderation_type)
}

fn times() -> Histogram {
    histogram!("gatehouse_time_to_decision_seconds")
}

/// Stores verdicts of items that still have the status that the verdicts begin with, with their
/// events and deliveries, and adds the jobs of the deliveries. Of items that are judged for one answer
/// only, nobody is told; the jobs that remove them are added. Items whose status changed in the
/// meantime are skipped: nothing is stored or told of them. Returns which items were decided, and
/// when.
pub(crate) async fn conclude(
    conn: &mut PgConnection,
    verdicts: &[Conclusion<'_>],
    added: &mut NewJobs,
) -> Result<Vec<(MediaId, DateTime<Utc>)>, sqlx::Error> {
    let mut decided = Vec::with_capacity(verdicts.len());
    let mut pages = Pages::default();
    let rows = decide(conn, &Columns::of(verdicts)?).await?;
    let item = |row: &Decided| row.media_id;
    for rows in rows.chunk_by(|one, other| item(one) == item(other)) {
        let Some(first) = rows.first() else { continue };
        decisions(first.status.clone(), first.moderation_type.clone()).increment(1);
        // People take hours. In one figure with the machine, they would hide how long the machine
        // takes.
        if first.number == 1 {
            times().record(first.seconds);
        }
        decided.push((first.media_id.into(), first.moderated_at));
        if first.is_transient {
            added.push(jobs::remove(first.media_id.into(), first.team_id.into()));
        }
        for rows in rows.chunk_by(|one, other| one.endpoint_id == other.endpoint_id) {
            let turn: Turn = rows
                .iter()
                .filter_map(|row| row.delivery_id)
                .map(DeliveryId::from)
                .collect();
            if let Some(endpoint) = rows.first().and_then(|row| row.endpoint_id) {
                pages.push(first.team_id.into(), EndpointId::from(endpoint), turn);
            }
        }
    }
    pages.add_to(added);
    Ok(decided)
}
