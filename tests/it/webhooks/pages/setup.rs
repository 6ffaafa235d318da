//! An endpoint and pages for it, created without submissions, and workers.

use std::time::Duration;

use domain::id::{DeliveryId, EndpointId, EventId, MediaId, TeamId};
use queue::{Group, Lane, NewJob, NewJobs};
use serde_json::json;
use sqlx::{FromRow, PgPool, Postgres, postgres::PgRow, types::Uuid};
use store::jobs::WEBHOOKS;

use crate::{
    support::{Site, Worker, admin, eventually, gatehouse, http, new_site, run_beside},
    webhooks,
};

/// One endpoint.
pub(super) struct Stage {
    pub(super) site: Site,
    pool: PgPool,
    endpoint: EndpointId,
    team: TeamId,
    allowed: String,
}

impl Stage {
    pub(super) async fn new(pool: PgPool, url: &str, allowed: &str) -> Self {
        let site = new_site(&pool);
        let endpoint = ["create-endpoint", "--site", &site.id, "--url", url];
        admin(
            &pool,
            &[&endpoint[..], &["--egress-allow", allowed]].concat(),
        );
        let (endpoint, team): (Uuid, Uuid) = sqlx::query_as(
            "select e.id, s.team_id
             from webhook_endpoints e join sites s on s.id = e.site_id
             where s.id = $1::text::uuid",
        )
        .bind(&site.id)
        .fetch_one(&pool)
        .await
        .unwrap();
        Self {
            site,
            pool,
            endpoint: endpoint.into(),
            team: team.into(),
            allowed: allowed.to_owned(),
        }
    }

    /// Another endpoint of the same site, with the same URL.
    pub(super) async fn sibling(&self) -> Self {
        let endpoint: Uuid = sqlx::query_scalar(
            "insert into webhook_endpoints (id, site_id, url, events)
             select gen_random_uuid(), site_id, url, events from webhook_endpoints where id = $1
             returning id",
        )
        .bind(self.endpoint.as_uuid())
        .fetch_one(&self.pool)
        .await
        .unwrap();
        Self {
            site: self.site.clone(),
            pool: self.pool.clone(),
            endpoint: endpoint.into(),
            team: self.team,
            allowed: self.allowed.clone(),
        }
    }

    /// A worker for webhooks, with these settings.
    pub(super) async fn worker(&self, settings: &[(&str, &str)]) -> Worker {
        let mut command = gatehouse(&self.pool);
        command.env("GATEHOUSE_EGRESS_ALLOW", &self.allowed);
        command.env("GATEHOUSE_QUEUES", "webhooks");
        for (name, value) in settings {
            command.env(name, value);
        }
        Worker::launch(command).await
    }

    /// Creates items, each with the deliveries of its acceptance and of its verdict.
    pub(super) async fn items(&self, count: usize) -> Vec<Vec<DeliveryId>> {
        let mut items = Vec::new();
        for _ in 0..count {
            let media = MediaId::from(Uuid::now_v7());
            let created = EventId::of_acceptance(media);
            let moderated = EventId::from(Uuid::now_v7());
            let item = [created, moderated].map(|event| DeliveryId::of(event, self.endpoint));
            sqlx::query(
                "with new_media as (
                     insert into media (id, team_id, site_id, status, content_type, body, group_versions, verdict)
                     values ($1, $2, $3, 'approved', 'text', 'a fine day', '{}', 1)
                 ),
                 new_verdict as (
                     insert into verdicts (media_id, number, status, previous_status, moderation_type, details, trace)
                     values ($1, 1, 'approved', 'pending', 'rule', '{}', '{}')
                 ),
                 new_events as (
                     insert into events (id, media_id, site_id, kind, verdict)
                     values ($4, $1, $3, 'media.created', null), ($5, $1, $3, 'media.moderated', 1)
                 )
                 insert into deliveries (id, event_id, endpoint_id) values ($6, $4, $8), ($7, $5, $8)",
            )
            .bind(media.as_uuid())
            .bind(self.team.as_uuid())
            .bind(self.site.id.parse::<Uuid>().unwrap())
            .bind(created.as_uuid())
            .bind(moderated.as_uuid())
            .bind(item[0].as_uuid())
            .bind(item[1].as_uuid())
            .bind(self.endpoint.as_uuid())
            .execute(&self.pool)
            .await
            .unwrap();
            items.push(item.to_vec());
        }
        items
    }

    /// Creates items, each with the delivery of its acceptance only.
    pub(super) async fn singles(&self, count: usize) -> Vec<Vec<DeliveryId>> {
        let items = self.items(count).await;
        sqlx::query("delete from deliveries d using events e where e.id = d.event_id and e.kind = 'media.moderated'")
            .execute(&self.pool)
            .await
            .unwrap();
        items.into_iter().map(|item| vec![item[0]]).collect()
    }

    /// Enqueues these turns as one page.
    pub(super) async fn enqueue(&self, turns: &[Vec<DeliveryId>]) {
        let page = json!({ "team": self.team, "turns": turns });
        self.push(
            NewJob::new(WEBHOOKS, Lane(self.endpoint.as_uuid()), &page)
                .group(Group(self.team.as_uuid()))
                .format(1),
        )
        .await;
    }

    pub(super) async fn enqueue_as_older_binaries_do(&self, delivery: DeliveryId) {
        sqlx::query(
            "select queue.enqueue(
                 array['webhooks'], array[$1], array[json_build_object('delivery', $2)::text],
                 array[0::smallint], array[0::bigint], array[40::smallint]
             )",
        )
        .bind(self.endpoint.as_uuid())
        .bind(delivery.as_uuid())
        .execute(&self.pool)
        .await
        .unwrap();
    }

    async fn push(&self, job: NewJob) {
        let mut conn = self.pool.acquire().await.unwrap();
        queue::enqueue(&mut conn, &NewJobs::from(job.max_attempts(40)))
            .await
            .unwrap();
    }

    /// Waits until all these deliveries have this state.
    pub(super) async fn all_are(&self, state: &str, turns: &[Vec<DeliveryId>], within: Duration) {
        let ids: Vec<Uuid> = turns.concat().iter().map(|id| id.as_uuid()).collect();
        eventually(&format!("all are {state}"), within, async || {
            let others: i64 = sqlx::query_scalar(
                "select count(*) from deliveries where id = any($1) and state <> $2",
            )
            .bind(&ids)
            .bind(state)
            .fetch_one(&self.pool)
            .await
            .unwrap();
            (others == 0).then_some(())
        })
        .await;
    }

    /// The state of a delivery, and its number of attempts.
    pub(super) async fn standing(&self, delivery: DeliveryId) -> (String, i16) {
        sqlx::query_as("select state, attempts from deliveries where id = $1")
            .bind(delivery.as_uuid())
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }

    /// The number of live jobs that name a delivery.
    pub(super) async fn jobs_of(&self, delivery: DeliveryId) -> i64 {
        sqlx::query_scalar(
            "select count(*) from queue.jobs where position($1 in payload::text) > 0",
        )
        .bind(delivery.to_string())
        .fetch_one(&self.pool)
        .await
        .unwrap()
    }

    pub(super) async fn jobs(&self) -> i64 {
        self.count("select count(*) from queue.jobs").await
    }

    pub(super) async fn attempts(&self) -> i64 {
        self.count("select count(*) from delivery_attempts").await
    }

    pub(super) async fn count(&self, query: &'static str) -> i64 {
        self.all(query).await[0]
    }

    pub(super) async fn all<T>(&self, query: &'static str) -> Vec<T>
    where
        T: Send + Unpin,
        (T,): for<'r> FromRow<'r, PgRow>,
        T: for<'r> sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
    {
        sqlx::query_scalar(query)
            .fetch_all(&self.pool)
            .await
            .unwrap()
    }

    pub(super) async fn run(&self, statement: &'static str) {
        run_beside(&self.pool, statement).await;
    }

    /// See [`webhooks::record_permits`].
    pub(super) async fn record_permits(&self) {
        webhooks::record_permits(&self.pool).await;
    }

    /// See [`webhooks::permits`].
    pub(super) async fn permits(&self) -> (i64, i64) {
        webhooks::permits(&self.pool).await
    }

    /// The number of pages that a worker split for this reason.
    pub(super) async fn spread(&self, reason: &str, worker: &Worker) -> u64 {
        let metrics = http().get(&worker.metrics_url).send().await.unwrap();
        let metrics = metrics.text().await.unwrap();
        let name = format!("gatehouse_webhook_pages_spread_total{{reason=\"{reason}\"}} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&name));
        value
            .unwrap_or_else(|| panic!("no {name}"))
            .parse()
            .unwrap()
    }
}
