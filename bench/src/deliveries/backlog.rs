//! Waiting deliveries as submissions would leave them, made without submitting.

use sqlx::PgConnection;
use uuid::Uuid;

/// The endpoints that a backlog is for.
pub(crate) struct Backlog {
    sites: Vec<Uuid>,
    teams: Vec<Uuid>,
    endpoints: Vec<Uuid>,
}

impl Backlog {
    /// For all endpoints in turn.
    pub(crate) async fn of_all(conn: &mut PgConnection) -> anyhow::Result<Self> {
        Self::of(conn, "").await
    }

    /// For the endpoints whose URL has this ending.
    pub(crate) async fn of(conn: &mut PgConnection, ending: &str) -> anyhow::Result<Self> {
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

    /// Adds this number of deliveries, two for each item: for its acceptance and for its verdict. A
    /// job has `page_turns` items; with 0, each delivery has its own job, as binaries without
    /// pages made them.
    pub(crate) async fn fill(
        &self,
        conn: &mut PgConnection,
        deliveries: u32,
        page_turns: u32,
    ) -> anyhow::Result<()> {
        sqlx::query(
            "
            with items as materialized (
                select
                    gen_random_uuid() as media, gen_random_uuid() as created, gen_random_uuid() as moderated,
                    gen_random_uuid() as of_created, gen_random_uuid() as of_moderated,
                    ($1::uuid [])[1 + n % cardinality($1)] as site, ($2::uuid [])[1 + n % cardinality($2)] as team,
                    ($3::uuid [])[1 + n % cardinality($3)] as endpoint, n
                from generate_series(0, $4 - 1) n
            ),
            new_media as (
                insert into media
                    (id, team_id, site_id, status, content_type, app_media_id, body, metadata, group_versions, verdict)
                select
                    media, team, site, 'approved', 'text', 'item-' || n, 'a text of no interest', '{\"author\": \"ada\"}',
                    '{}', 1
                from items
            ),
            new_verdicts as (
                insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
                select media, 1, 'approved', 'pending', 'rule', '{\"rule_violations\": [], \"processing_time_ms\": 12}', '{}'
                from items
            ),
            new_events as (
                insert into events (id, media_id, site_id, kind, verdict)
                select created, media, site, 'media.created', null::smallint from items
                union all
                select moderated, media, site, 'media.moderated', 1 from items
            ),
            new_deliveries as (
                insert into deliveries (id, event_id, endpoint_id)
                select of_created, created, endpoint from items
                union all
                select of_moderated, moderated, endpoint from items
            ),
            jobs as (
                select
                    team, endpoint, 1::smallint as format,
                    json_build_object(
                        'team', team, 'turns', json_agg(json_build_array(of_created, of_moderated) order by n)
                    ) as payload
                from items
                where $5 > 0
                group by team, endpoint, n / (cardinality($3) * greatest($5, 1))
                union all
                select team, endpoint, 0::smallint, json_build_object('delivery', delivery)
                from items, unnest(array[of_created, of_moderated]) delivery
                where $5 = 0
            )
            select queue.enqueue(
                array_agg('webhooks'::text), array_agg(team), array_agg(endpoint), array_agg(payload::text),
                array_agg(format), array_agg(0::smallint), array_agg(0::bigint), array_agg(40::smallint)
            )
            from jobs
            ",
        )
        .bind(&self.sites)
        .bind(&self.teams)
        .bind(&self.endpoints)
        .bind(i32::try_from(deliveries / 2)?)
        .bind(i32::try_from(page_turns)?)
        .execute(&mut *conn)
        .await?;
        sqlx::query("vacuum analyze media, events, deliveries, verdicts, queue.jobs")
            .execute(&mut *conn)
            .await?;
        sqlx::query("checkpoint").execute(conn).await?;
        Ok(())
    }
}
