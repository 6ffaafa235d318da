//! Deliveries that wait, as submissions would have left them, made without submitting.

use sqlx::PgConnection;
use uuid::Uuid;

/// The endpoints that a backlog is for.
pub(super) struct Backlog {
    sites: Vec<Uuid>,
    teams: Vec<Uuid>,
    endpoints: Vec<Uuid>,
}

impl Backlog {
    /// For all endpoints in turn.
    pub(super) async fn of_all(conn: &mut PgConnection) -> anyhow::Result<Self> {
        Self::of(conn, "").await
    }

    /// For the endpoints whose URL ends so.
    pub(super) async fn of(conn: &mut PgConnection, ending: &str) -> anyhow::Result<Self> {
        let rows: Vec<(Uuid, Uuid, Uuid)> = sqlx::query_as(
            "select s.id, s.team_id, e.id from webhook_endpoints e join sites s on s.id = e.site_id
             where e.url like '%' || $1 order by e.id",
        )
        .bind(ending)
        .fetch_all(conn)
        .await?;
        let mut backlog = Self {
            sites: Vec::new(),
            teams: Vec::new(),
            endpoints: Vec::new(),
        };
        for (site, team, endpoint) in rows {
            backlog.sites.push(site);
            backlog.teams.push(team);
            backlog.endpoints.push(endpoint);
        }
        Ok(backlog)
    }

    /// Adds so many `media.created` events, each with a delivery and its job.
    pub(super) async fn fill(&self, conn: &mut PgConnection, count: u32) -> anyhow::Result<()> {
        sqlx::query(
            "
            with items as materialized (
                select
                    gen_random_uuid() as media, gen_random_uuid() as event, gen_random_uuid() as delivery,
                    ($1::uuid [])[1 + n % cardinality($1)] as site, ($2::uuid [])[1 + n % cardinality($2)] as team,
                    ($3::uuid [])[1 + n % cardinality($3)] as endpoint, n
                from generate_series(1, $4) n
            ),
            new_media as (
                insert into media (id, team_id, site_id, content_type, app_media_id, body, metadata, group_versions)
                select media, team, site, 'text', 'item-' || n, 'a text of no interest', '{\"author\": \"ada\"}', '{}'
                from items
            ),
            new_events as (
                insert into events (id, media_id, site_id, kind) select event, media, site, 'media.created' from items
            ),
            new_deliveries as (
                insert into deliveries (id, event_id, endpoint_id) select delivery, event, endpoint from items
            )
            select queue.enqueue(
                array_agg('webhooks'::text), array_agg(endpoint), array_agg(json_build_object('delivery', delivery)::text),
                array_agg(0::smallint), array_agg(0::bigint), array_agg(40::smallint)
            )
            from items
            ",
        )
        .bind(&self.sites)
        .bind(&self.teams)
        .bind(&self.endpoints)
        .bind(i32::try_from(count)?)
        .execute(&mut *conn)
        .await?;
        sqlx::query("vacuum analyze media, events, deliveries, queue.jobs")
            .execute(&mut *conn)
            .await?;
        sqlx::query("checkpoint").execute(conn).await?;
        Ok(())
    }
}
