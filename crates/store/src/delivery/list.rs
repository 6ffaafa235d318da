//! Lists of the deliveries of sites, newest first.
//!
//! As with media, a page with a filter that no index serves looks at a bounded number of rows
//! ([`WALKED`]). Such a page may hold fewer deliveries than its limit, even none, although there is
//! a next page.

mod by_item;
mod paging;
mod summary;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, MediaId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::summary::Listed;
use self::{
    by_item::about,
    paging::{Walk, failed, newest},
    summary::describe,
};
use crate::{Error, id_time::ids_within, page};

/// How many rows a page with a filter looks at, over all endpoints together; at least one of each.
pub const WALKED: usize = 5_000;

/// How many endpoints of the sites, the newest ones, are listed when the filter names none. Deleted
/// endpoints count.
pub(crate) const ENDPOINTS: i64 = 1_000;

/// Which deliveries. Fields that are `None` filter nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// In this state.
    pub status: Option<DeliveryStatus>,
    /// Of events of this kind.
    pub kind: Option<EventKind>,
    /// Of events about this item.
    pub media: Option<MediaId>,
    /// Of events that happened at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Of events that happened before this time.
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    fn wants_all(&self) -> bool {
        self.status.is_none() && self.kind.is_none() && self.since.is_none() && self.until.is_none()
    }
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// At most as many as were asked for.
    pub deliveries: Vec<Listed>,
    /// After which delivery the next page begins; none on the last one.
    pub next: Option<DeliveryId>,
}

/// At most `limit` deliveries of these sites that are older than `after`. Run it in a transaction that
/// sees one moment.
pub async fn list(
    conn: &mut PgConnection,
    sites: &[SiteId],
    filter: &Filter,
    after: Option<DeliveryId>,
    limit: usize,
) -> Result<Page, Error> {
    let endpoints = endpoints(conn, sites, filter.endpoint).await?;
    let endpoints: Vec<Uuid> = endpoints.into_iter().map(|endpoint| endpoint.id).collect();
    let (from, until) = ids_within(filter.since, filter.until);
    let share = (WALKED / endpoints.len().max(1)).max(1);
    // Without a filter, no endpoint needs more rows than the page can hold.
    let share = if filter.wants_all() {
        share.min(limit.saturating_add(1))
    } else {
        share
    };
    let walk = Walk {
        endpoints,
        from,
        before: after.map_or(until, |after| after.as_uuid().min(until)),
        share: i64::try_from(share).unwrap_or(i64::MAX),
        fetched: i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX),
        filter,
    };
    let steps = match (filter.media, filter.status) {
        (Some(media), _) => about(conn, sites, &walk, media).await?,
        (None, Some(DeliveryStatus::Exhausted | DeliveryStatus::Discarded)) => {
            failed(conn, &walk).await?
        }
        (None, Some(DeliveryStatus::Pending | DeliveryStatus::Delivered) | None) => {
            newest(conn, &walk).await?
        }
    };
    let (found, next) = page::found(&steps, limit);
    let deliveries = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, &found).await?
    };
    Ok(Page {
        deliveries,
        next: next.map(DeliveryId::from),
    })
}

/// An endpoint whose deliveries are listed.
pub(crate) struct Owned {
    pub(crate) id: Uuid,
    pub(crate) site_id: Uuid,
}

/// The endpoints of these sites whose deliveries are listed, the newest first.
pub(crate) async fn endpoints(
    conn: &mut PgConnection,
    sites: &[SiteId],
    only: Option<EndpointId>,
) -> Result<Vec<Owned>, sqlx::Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    sqlx::query_as!(
        Owned,
        "
        select id, site_id
        from webhook_endpoints
        where site_id = any($1) and ($2::uuid is null or id = $2)
        order by id desc
        limit $3
        ",
        &sites,
        only.map(EndpointId::as_uuid),
        ENDPOINTS,
    )
    .fetch_all(conn)
    .await
}
