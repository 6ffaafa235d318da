//! What a list shows of each event: the event, and its deliveries.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, delivery::endpoints};

/// The most deliveries of an event that are shown.
pub const SHOWN: usize = 100;

/// An event in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The event.
    pub id: EventId,
    /// Its site.
    pub site: SiteId,
    /// Its kind.
    pub kind: EventKind,
    /// The item that it is about.
    pub media: MediaId,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// Its deliveries, those to the newest endpoints first, at most [`SHOWN`].
    pub deliveries: Vec<Told>,
}

/// The delivery of an event to an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The delivery's state.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempts: i16,
}

/// The events of these ids, newest first, with their deliveries.
pub(super) async fn describe(
    conn: &mut PgConnection,
    found: &[Uuid],
) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query!(
        "select id, site_id, kind, media_id, occurred_at from events where id = any($1) order by id desc",
        found,
    )
    .fetch_all(&mut *conn)
    .await?;
    let places: Vec<(Uuid, Uuid)> = rows.iter().map(|row| (row.site_id, row.id)).collect();
    let mut told = told(conn, &places).await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                id: row.id.into(),
                site: row.site_id.into(),
                kind: row.kind.parse()?,
                media: row.media_id.into(),
                occurred_at: row.occurred_at,
                deliveries: told.remove(&row.id).unwrap_or_default(),
            })
        })
        .collect()
}

/// The deliveries of each of these events, which are named with their sites. Their ids follow from
/// those of the events and the endpoints.
async fn told(
    conn: &mut PgConnection,
    events: &[(Uuid, Uuid)],
) -> Result<HashMap<Uuid, Vec<Told>>, Error> {
    let sites: BTreeSet<SiteId> = events.iter().map(|(site, _)| (*site).into()).collect();
    let sites: Vec<SiteId> = sites.into_iter().collect();
    let endpoints = endpoints(conn, &sites, None).await?;
    let ids = events.iter().flat_map(|(site, event)| {
        let of_site = endpoints
            .iter()
            .filter(move |endpoint| endpoint.site_id == *site);
        of_site.map(|endpoint| DeliveryId::of((*event).into(), endpoint.id.into()).as_uuid())
    });
    let ids: Vec<Uuid> = ids.collect();
    let rows = sqlx::query!(
        "
        select id, event_id, endpoint_id, state, attempts
        from deliveries
        where id = any($1)
        order by endpoint_id desc
        ",
        &ids,
    )
    .fetch_all(conn)
    .await?;
    let mut told: HashMap<Uuid, Vec<Told>> = HashMap::new();
    for row in rows {
        let of_event = told.entry(row.event_id).or_default();
        if of_event.len() < SHOWN {
            of_event.push(Told {
                delivery: row.id.into(),
                endpoint: row.endpoint_id.into(),
                status: row.state.parse()?,
                attempts: row.attempts,
            });
        }
    }
    Ok(told)
}
