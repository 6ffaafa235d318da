//! A whole service in one file: it enqueues greetings, which fail now and then and each leave a
//! row.
//!
//! `DATABASE_URL=postgres://... cargo run -p gatehouse-queue --example greetings`; Ctrl-C stops it
//! in order.

use std::time::Duration;

use anyhow::Context;
use apalis::{
    layers::WorkerBuilderExt,
    prelude::{BoxDynError, Monitor, WorkerBuilder},
};
use queue::{
    BackendSettings, Config, DeadJob, Effect, FinishTx, Lane, NewJob, NewJobs, OnDead, Queue,
    QueueName, Run, Survivor,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use uuid::Uuid;

const GREETINGS: QueueName = QueueName::new("greetings");

#[derive(Serialize, Deserialize)]
struct Greet {
    name: String,
}

/// What a finished greeting leaves in the database.
struct Greeted {
    name: String,
}

impl Effect for Greeted {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let names: Vec<&str> = batch.iter().map(|job| job.effect.name.as_str()).collect();
        sqlx::query("insert into greeted (name) select unnest($1::text[])")
            .bind(names)
            .execute(&mut *tx.conn)
            .await?;
        Ok(())
    }
}

/// Writes an apology for each greeting whose job died.
struct Apology;

impl OnDead for Apology {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let names: Vec<String> = dead
            .iter()
            .filter_map(|job| Some(job.args::<Greet>().ok()?.name))
            .collect();
        sqlx::query("insert into greeted (name) select 'sorry, ' || unnest($1::text[])")
            .bind(names)
            .execute(&mut *tx.conn)
            .await?;
        Ok(())
    }
}

async fn greet(job: Greet, run: Run) -> Result<Greeted, BoxDynError> {
    if job.name.ends_with('7') && run.attempt == 1 {
        return Err("could not greet".into());
    }
    Ok(Greeted { name: job.name })
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let url = std::env::var("DATABASE_URL").context("DATABASE_URL names a Postgres database")?;
    let pool = PgPool::connect(&url).await?;
    queue::MIGRATOR.run(&pool).await?;
    sqlx::query("create table if not exists greeted (name text not null)")
        .execute(&pool)
        .await?;

    let queue = Queue::open(pool.clone(), Config::default())?;
    let workers = Monitor::new()
        .register({
            let queue = queue.clone();
            move |_| {
                let settings = BackendSettings::new(GREETINGS)
                    .lane_cap(8)
                    .on_dead::<Apology>();
                WorkerBuilder::new("greetings")
                    .backend(queue.backend::<Greet>(settings))
                    .concurrency(32)
                    .timeout(Duration::from_secs(30))
                    .build(greet)
            }
        })
        .shutdown_timeout(Duration::from_secs(20));

    let jobs: NewJobs = (0..100u128)
        .map(|n| {
            let lane = Lane(Uuid::from_u128(n % 4));
            NewJob::new(
                GREETINGS,
                lane,
                &Greet {
                    name: format!("guest {n}"),
                },
            )
            .max_attempts(5)
        })
        .collect();
    let mut tx = pool.begin().await?;
    queue::enqueue(&mut tx, &jobs).await?;
    tx.commit().await?;
    queue.enqueued(&jobs);

    workers.run_with_signal(tokio::signal::ctrl_c()).await?;
    queue.close(Duration::from_secs(5)).await;
    Ok(())
}
