//! Webhooks through the whole service: what receivers can rely on, however they behave.

mod answers;
mod endpoint_changes;
mod health;
mod killed;
mod limits;
mod neighbours;
mod order;
mod pages;
mod recoveries;
mod rotation;
mod slow_receivers;
mod stored_rows;
mod wire;

use std::time::Duration;

use serde_json::json;
use sqlx::{ConnectOptions as _, PgPool};

use crate::support::{
    Api, DataDir, Receiver, ScriptedServer, Site, Up, Worker, admin, eventually, gatehouse,
    new_site, run_beside,
};

/// From now on, the permits of endpoints that have a limit are recorded, with the second that each counts for.
async fn record_permits(pool: &PgPool) {
    sqlx::raw_sql(
        "create table permits (second timestamptz not null);
         create function note_permit() returns trigger language plpgsql as $$
         begin
             insert into permits values (new.second);
             return null;
         end $$;
         create trigger note_permit after insert or update of sent on webhook_endpoint_states for each row
             when (new.second is not null) execute function note_permit()",
    )
    .execute(pool)
    .await
    .unwrap();
}

/// How many permits were recorded, and the most of one second.
async fn permits(pool: &PgPool) -> (i64, i64) {
    sqlx::query_as(
        "select sum(permits)::bigint, max(permits)
         from (select count(*) as permits from permits group by second) seconds",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

async fn launch(pool: &PgPool, data: &DataDir, receiver: &Receiver, more: &[&str]) -> Up {
    let database = pool.connect_options().to_url_lossy().to_string();
    let url = receiver.url();
    let mut options = vec!["--database-url", &database, "--demo", "--webhook-url", &url];
    options.extend(more);
    Up::start(data, &options).await
}

/// A service whose only endpoint is the test's receiver.
struct Service {
    up: Up,
    receiver: Receiver,
    pool: PgPool,
    data: DataDir,
}

impl Service {
    async fn start(pool: PgPool) -> Self {
        Self::with(pool, &[]).await
    }

    async fn with(pool: PgPool, options: &[&str]) -> Self {
        let (receiver, data) = (Receiver::start().await, DataDir::new());
        let up = launch(&pool, &data, &receiver, options).await;
        Self {
            up,
            receiver,
            pool,
            data,
        }
    }

    /// Kills it, and starts it again with these options.
    async fn kill_and_start(self, options: &[&str]) -> Self {
        self.up.kill();
        let up = launch(&self.pool, &self.data, &self.receiver, options).await;
        Self { up, ..self }
    }

    async fn submit(&self) -> String {
        self.up.submit(json!({ "body": "a fine day" })).await
    }

    async fn run(&self, statement: &'static str) {
        run_beside(&self.pool, statement).await;
    }

    async fn count(&self, query: &'static str) -> i64 {
        sqlx::query_scalar(query)
            .fetch_one(&self.pool)
            .await
            .unwrap()
    }
}

/// An interface and a worker that send the events of a site to endpoints on one server.
struct Endpoints {
    api: Api,
    worker: Worker,
    site: Site,
    pool: PgPool,
}

/// The first attempt to deliver a `media.created`, and its result.
#[derive(Debug, sqlx::FromRow)]
struct First {
    url: String,
    /// Of the delivery.
    state: String,
    /// Of the delivery, so far.
    attempts: i16,
    outcome: String,
    status_code: Option<i16>,
    response_body: Option<Vec<u8>>,
    duration_ms: i32,
    /// From the end of the last attempt to the next one, in seconds.
    wait: Option<f64>,
}

impl Endpoints {
    async fn start(pool: PgPool, server: &ScriptedServer, paths: &[&str]) -> Self {
        let site = new_site(&pool);
        for path in paths {
            let url = server.url(path);
            let endpoint = ["create-endpoint", "--site", &site.id, "--url", &url];
            let allowed = ["--egress-allow", &server.allowed()];
            admin(&pool, &[&endpoint[..], &allowed].concat());
        }
        let api = Api::start(&pool).await;
        let mut command = gatehouse(&pool);
        command.env("GATEHOUSE_EGRESS_ALLOW", server.allowed());
        let worker = Worker::launch(command).await;
        Self {
            api,
            worker,
            site,
            pool,
        }
    }

    async fn submit(&self) {
        let fields = json!({ "api_key": self.site.key, "body": "a fine day" });
        let answer = self.api.post("submit-media", None, &fields).await;
        assert_eq!(answer.unwrap().0, 200);
    }

    /// Waits for the first attempts of one item, one for each endpoint.
    async fn firsts(&self, endpoints: usize, within: Duration) -> Vec<First> {
        eventually("the first attempts", within, async || {
            let firsts: Vec<First> = sqlx::query_as(
                "select
                    e.url, d.state, d.attempts, a.outcome, a.status_code, a.response_body, a.duration_ms,
                    extract(epoch from d.next_attempt_at - a.started_at)::float8 - a.duration_ms / 1e3 as wait
                from deliveries d
                join events v on v.id = d.event_id and v.kind = 'media.created'
                join webhook_endpoints e on e.id = d.endpoint_id
                join delivery_attempts a on a.delivery_id = d.id and a.number = 1",
            )
            .fetch_all(&self.pool)
            .await
            .unwrap();
            (firsts.len() == endpoints).then_some(firsts)
        })
        .await
    }
}
