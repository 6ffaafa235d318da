//! Lists of the events of sites, newest first, with the deliveries of each, or none if no endpoint
//! wanted the event.
//!
//! As with media, a page with a filter that no index serves looks at a bounded number of rows
//! ([`WALKED`](crate::delivery::WALKED)). Such a page may hold fewer events than its limit, even none, although there is a
//! next page.

mod paging;
mod summary;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{EventId, MediaId, SiteId},
};
use sqlx::PgConnection;

pub use self::summary::{Listed, SHOWN, Told};
use self::{
    paging::{Walk, about, newest},
    summary::describe,
};
use crate::{Error, id_time::ids_within, page};

/// Which events. Fields that are `None` filter nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<EventKind>,
    /// About this item.
    pub media: Option<MediaId>,
    /// That happened at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// That happened before this time.
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    fn wants_all(&self) -> bool {
        self.kind.is_none() && self.since.is_none() && self.until.is_none()
    }
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// At most as many as were asked for.
    pub events: Vec<Listed>,
    /// After which event the next page begins; none on the last one.
    pub next: Option<EventId>,
}

/// At most `limit` events of these sites that are older than `after`. Run it in a transaction that sees
/// one moment.
pub async fn list(
    conn: &mut PgConnection,
    sites: &[SiteId],
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<Page, Error> {
    let (from, until) = ids_within(filter.since, filter.until);
    let walk = Walk {
        sites: sites.iter().map(|site| site.as_uuid()).collect(),
        from,
        before: after.map_or(until, |after| after.as_uuid().min(until)),
        fetched: i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX),
        filter,
    };
    let steps = match filter.media {
        Some(media) => about(conn, &walk, media).await?,
        None => newest(conn, &walk).await?,
    };
    let (found, next) = page::found(&steps, limit);
    let events = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, &found).await?
    };
    Ok(Page {
        events,
        next: next.map(EventId::from),
    })
}
