//! Tells of an item's acceptance (`media.created`) after the acceptance itself.
//!
//! An item without an image is accepted with one job and nothing else. Its job names the endpoints
//! to tell. The event and its deliveries are stored together with the verdict, or before it when
//! the verdict takes longer ([`Created`]). An acceptance is told once, however often this function
//! is called: the id of its event is derived from the item's id, and the event is kept for as long
//! as the item is pending.

use domain::id::{DeliveryId, EventId};
use queue::{Effect, FinishTx, NewJobs, Survivor};
use sqlx::PgConnection;
use uuid::Uuid;

pub use crate::jobs::Created;
use crate::jobs::Pages;

impl Created {
    /// The id of its event.
    pub(crate) fn event(&self) -> Uuid {
        EventId::of_acceptance(self.media).as_uuid()
    }

    /// Its endpoints as the text of an array, because arrays of arrays of different lengths cannot
    /// be bound.
    pub(crate) fn endpoints_as_text(&self) -> String {
        let endpoints: Vec<String> = self.endpoints.iter().map(ToString::to_string).collect();
        format!("{{{}}}", endpoints.join(","))
    }
}

impl Effect for Created {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let created: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        tell(tx.conn, &created, &mut tx.jobs).await
    }
}

/// Stores the events that are not stored yet, with their deliveries, and adds the jobs of the
/// deliveries.
///
/// The acceptance of a decided item was told before the item was decided, and its event may have
/// been removed since. So nothing is stored for a decided item after a day, which is the shortest
/// time for which events are kept.
pub(crate) async fn tell(
    conn: &mut PgConnection,
    created: &[&Created],
    jobs: &mut NewJobs,
) -> Result<(), sqlx::Error> {
    if created.is_empty() {
        return Ok(());
    }
    let media: Vec<Uuid> = created
        .iter()
        .map(|created| created.media.as_uuid())
        .collect();
    let events: Vec<Uuid> = created.iter().map(|created| created.event()).collect();
    let endpoints: Vec<String> = created
        .iter()
        .map(|created| created.endpoints_as_text())
        .collect();
    // A recovery of missed events looks only at stored events. Events that it would have found if
    // they had been told at once are sent to its endpoint from here.
    let told = sqlx::query!(
        r#"
        with input as materialized (
            select media_id, event_id, endpoints::uuid [] as endpoints
            from unnest($1::uuid [], $2::uuid [], $3::text []) as i (media_id, event_id, endpoints)
        ),
        accepted as materialized (
            select i.event_id, i.endpoints, m.id, m.team_id, m.site_id, m.created_at
            from input i
            join media m on m.id = i.media_id
            where (m.status = 'pending' or m.created_at > now() - interval '1 day') and m.erased_at is null
        ),
        new_events as (
            insert into events (id, media_id, site_id, kind, occurred_at)
            select event_id, id, site_id, 'media.created', created_at from accepted order by event_id
            on conflict (id) do nothing
            returning id
        ),
        told as materialized (
            select a.event_id, a.team_id, e.id as endpoint_id, delivery_id_of(a.event_id, e.id) as delivery_id
            from accepted a
            join webhook_endpoints e on e.site_id = a.site_id
            where
                a.event_id in (select id from new_events)
                and (
                    e.id = any(a.endpoints)
                    or e.disabled_at is null and 'media.created' = any(e.events) and exists (
                        select
                        from webhook_recoveries r
                        where
                            r.endpoint_id = e.id and r.kind = 'missing' and r.state in ('running', 'finished')
                            and coalesce(r.event, 'media.created') = 'media.created'
                            and r.created_at > a.created_at and r.since <= a.created_at and r.until > a.created_at
                    )
                )
        ),
        new_deliveries as (
            insert into deliveries (id, event_id, endpoint_id) select delivery_id, event_id, endpoint_id from told
        )
        select delivery_id as "delivery!", endpoint_id as "endpoint!", team_id as "team!" from told
        "#,
        &media,
        &events,
        &endpoints,
    )
    .fetch_all(conn)
    .await?;
    let mut pages = Pages::default();
    for row in told {
        let turn = vec![DeliveryId::from(row.delivery)];
        pages.push(row.team.into(), row.endpoint.into(), turn);
    }
    pages.add_to(jobs);
    Ok(())
}
