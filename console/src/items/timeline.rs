//! What became of an item, in order: accepted, analysed, decided, told.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::EndpointId,
    media::{ModerationType, Status},
};
use management::media::{Item, explanation};

use super::verdict_reason;
use crate::{page::Area, visible_text::VisibleText};

/// Entries of the timeline.
const MOST: usize = 60;

/// Deliveries of an event.
const MOST_DELIVERIES: usize = 20;

/// Something that happened.
pub(super) struct Entry {
    pub(super) at: DateTime<Utc>,
    /// The class of its mark.
    pub(super) tone: &'static str,
    pub(super) title: String,
    pub(super) note: Option<VisibleText>,
    pub(super) deliveries: Vec<Delivery>,
    /// How many more deliveries there are.
    pub(super) more: usize,
}

pub(super) struct Delivery {
    pub(super) path: String,
    pub(super) endpoint: VisibleText,
    pub(super) state: String,
    pub(super) attempts: i16,
    pub(super) next: Option<DateTime<Utc>>,
}

/// The timeline, and how many of its entries are left out after the first one.
pub(super) struct Timeline {
    pub(super) entries: Vec<Entry>,
    pub(super) left_out: usize,
}

impl Entry {
    fn new(at: DateTime<Utc>, tone: &'static str, title: impl Into<String>) -> Self {
        Self {
            at,
            tone,
            title: title.into(),
            note: None,
            deliveries: Vec::new(),
            more: 0,
        }
    }
}

/// `endpoints` are the URLs of its site's endpoints.
pub(super) fn of(team: Area, item: &Item, endpoints: &HashMap<EndpointId, String>) -> Timeline {
    let mut entries = vec![Entry::new(item.created_at, "", "Accepted")];
    if let Some(analysis) = &item.analysis {
        entries.push(Entry::new(analysis.created_at, "", "Analysed"));
    }
    for verdict in item.verdicts.iter().take(MOST) {
        let by = match verdict.moderation_type {
            ModerationType::Rule => "by rules",
            ModerationType::Ai => "by an analysis",
            ModerationType::Manual => "by a person",
        };
        let (tone, status) = outcome(verdict.status);
        let title = format!("Verdict {}: {status}, {by}", verdict.number);
        entries.push(Entry {
            note: Some(VisibleText::new(
                &verdict_reason::of(verdict, explanation::of(verdict).as_ref()),
                &[],
            )),
            ..Entry::new(verdict.moderated_at, tone, title)
        });
    }
    for event in item.events.iter().take(MOST) {
        let title = match event.kind {
            EventKind::MediaCreated => "Event media.created".to_owned(),
            EventKind::MediaModerated => {
                format!(
                    "Event media.moderated of verdict {}",
                    event.verdict.unwrap_or(0)
                )
            }
        };
        let deliveries = event.deliveries.iter().take(MOST_DELIVERIES);
        entries.push(Entry {
            deliveries: deliveries
                .map(|delivery| Delivery {
                    path: team.path(&format!("deliveries/{}", delivery.id)),
                    endpoint: endpoints.get(&delivery.endpoint).map_or_else(
                        || VisibleText::new("a deleted endpoint", &[]),
                        |url| VisibleText::truncated(url, 80),
                    ),
                    state: delivery.state.clone(),
                    attempts: delivery.attempts,
                    next: delivery.next_attempt_at,
                })
                .collect(),
            more: event.deliveries.len().saturating_sub(MOST_DELIVERIES),
            ..Entry::new(event.occurred_at, "", title)
        });
    }
    entries.sort_by_key(|entry| entry.at);
    let untold = |all: usize| all.saturating_sub(MOST);
    let left_out = untold(entries.len());
    entries.drain(1..=left_out);
    Timeline {
        entries,
        left_out: left_out + untold(item.verdicts.len()) + untold(item.events.len()),
    }
}

pub(super) const fn outcome(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Pending => ("", "not judged"),
        Status::Approved => ("ok", "approved"),
        Status::Rejected => ("no", "rejected"),
        Status::PendingReview => ("warn", "waits for review"),
    }
}
