//! A minimal queue, written by hand: a loop that claims batches with `skip locked` and deletes them
//! when they are done, on a bare table and on a realistic one. Its commits are as durable as ours:
//! it does not wait for those of claims, but for those of deletes.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::{PgConnection, PgPool, postgres::PgPoolOptions};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{CONNECTIONS, Driven, Job, Placed, Runs};
use crate::protocol::{About, Work};

/// Jobs to a claim.
const BATCH: i64 = 500;
/// How long the loop sleeps when there is nothing.
const POLL: Duration = Duration::from_millis(5);

/// Which table the loop works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// One queue, no priorities, no retries; one index for what is due.
    Bare,
    /// Our columns without lanes, and indexes for due and for scheduled jobs.
    Laneless,
}

const BARE: [&str; 2] = [
    "
create table if not exists jobs_by_hand (
    id bigint generated always as identity primary key,
    run_at timestamptz not null default now(),
    locked_at timestamptz,
    payload json not null
)",
    "
create index if not exists jobs_by_hand_due on jobs_by_hand (run_at, id) where locked_at is null",
];
const LANELESS: [&str; 3] = [
    "
create table if not exists jobs_laneless (
    id bigint generated always as identity primary key,
    run_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    attempt smallint not null default 0,
    max_attempts smallint not null default 25 check (max_attempts > 0),
    state smallint not null default 0 check (state between 0 and 3),
    priority smallint not null default 0,
    locked_by uuid,
    queue text not null,
    last_error text,
    payload json not null
)",
    "
create index if not exists jobs_laneless_due on jobs_laneless (queue, priority desc, run_at, id) where state = 0",
    "
create index if not exists jobs_laneless_scheduled on jobs_laneless (queue, run_at) where state = 2",
];

impl Table {
    const fn definition(self) -> &'static [&'static str] {
        match self {
            Self::Bare => &BARE,
            Self::Laneless => &LANELESS,
        }
    }

    const fn enqueue(self) -> &'static str {
        match self {
            Self::Bare => {
                "insert into jobs_by_hand (payload, run_at)
                 select unnest($1::text[])::json, now() + $2 * interval '1 second'"
            }
            Self::Laneless => {
                "insert into jobs_laneless (queue, payload, run_at, state)
                 select 'nothing', unnest($1::text[])::json, now() + $2 * interval '1 second',
                        case when $2 > 0 then 2 else 0 end"
            }
        }
    }

    const fn claim(self) -> &'static str {
        match self {
            Self::Bare => {
                "
                with settings as materialized (select set_config('synchronous_commit', 'off', true)),
                due as materialized (
                    select id from jobs_by_hand
                     where locked_at is null and run_at <= now()
                     order by run_at, id
                     limit $1
                       for update skip locked
                )
                update jobs_by_hand j
                   set locked_at = now()
                  from settings
                 where j.id = any (array(select id from due))
                returning j.id, j.payload::text
                "
            }
            Self::Laneless => {
                "
                with settings as materialized (select set_config('synchronous_commit', 'off', true)),
                due as materialized (
                    select id from jobs_laneless
                     where state = 0 and queue = 'nothing'
                     order by priority desc, run_at, id
                     limit $1
                       for update skip locked
                )
                update jobs_laneless j
                   set state = 1, locked_by = '00000000-0000-0000-0000-000000000000', attempt = attempt + 1
                  from settings
                 where j.id = any (array(select id from due))
                returning j.id, j.payload::text
                "
            }
        }
    }

    const fn delete(self) -> &'static str {
        match self {
            Self::Bare => "delete from jobs_by_hand where id = any ($1)",
            Self::Laneless => "delete from jobs_laneless where id = any ($1)",
        }
    }
}

pub(super) struct ByHand {
    pool: PgPool,
    table: Table,
    stop: CancellationToken,
    loops: Mutex<JoinSet<anyhow::Result<()>>>,
}

impl ByHand {
    pub(super) async fn open(url: &str, table: Table) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect(url)
            .await?;
        for &statement in table.definition() {
            sqlx::query(statement).execute(&pool).await?;
        }
        Ok(Self {
            pool,
            table,
            stop: CancellationToken::new(),
            loops: Mutex::default(),
        })
    }
}

/// Claims and deletes until stopped.
async fn work(
    pool: PgPool,
    table: Table,
    runs: Arc<Runs>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let mut conn = pool.acquire().await?;
    while !stop.is_cancelled() {
        if !claim_and_delete(&mut conn, table, &runs).await? {
            tokio::time::sleep(POLL).await;
        }
    }
    Ok(())
}

/// False if there was nothing to do.
async fn claim_and_delete(
    conn: &mut PgConnection,
    table: Table,
    runs: &Runs,
) -> anyhow::Result<bool> {
    let taken: Vec<(i64, String)> = sqlx::query_as(table.claim())
        .bind(BATCH)
        .fetch_all(&mut *conn)
        .await?;
    let mut ids = Vec::with_capacity(taken.len());
    for (id, payload) in taken {
        let job: Job = serde_json::from_str(&payload)?;
        runs.start(job);
        ids.push(id);
    }
    if ids.is_empty() {
        return Ok(false);
    }
    sqlx::query(table.delete()).bind(ids).execute(conn).await?;
    Ok(true)
}

impl Driven for ByHand {
    fn about(&self) -> About {
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: format!("batches of {BATCH}, claims not synced, deletes synced"),
        }
    }

    async fn enqueue(&self, jobs: &[Placed], delay: Duration) -> anyhow::Result<()> {
        let payloads: Vec<String> = jobs
            .iter()
            .map(|placed| serde_json::to_string(&placed.job))
            .collect::<Result<_, _>>()?;
        sqlx::query(self.table.enqueue())
            .bind(payloads)
            .bind(delay.as_secs_f64())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    fn work(&self, asked: Work, runs: Arc<Runs>) {
        let mut loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..asked.loops {
            loops.spawn(work(
                self.pool.clone(),
                self.table,
                runs.clone(),
                self.stop.clone(),
            ));
        }
    }

    async fn stop(&self) -> anyhow::Result<()> {
        self.stop.cancel();
        let loops = std::mem::take(&mut *self.loops.lock().unwrap_or_else(PoisonError::into_inner));
        for ended in loops.join_all().await {
            ended?;
        }
        Ok(())
    }

    async fn close(&self) {
        self.pool.close().await;
    }
}
