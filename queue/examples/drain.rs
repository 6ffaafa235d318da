//! How much the queue costs: drains no-op jobs once by a hand-written loop that claims and deletes, and once by
//! an apalis worker on this queue, turn by turn, and prints jobs per second and their ratio.
//!
//! `DATABASE_URL=postgres://... cargo run --release -p gatehouse-queue --example drain -- [jobs] [lanes] [rounds]`,
//! on a database of its own.

#![expect(clippy::print_stdout, reason = "its output is its purpose")]

use std::time::{Duration, Instant};

use anyhow::Context;
use apalis::{
    layers::WorkerBuilderExt,
    prelude::{BoxDynError, Monitor, WorkerBuilder},
};
use queue::{BackendSettings, Config, Lane, NewJob, NewJobs, Queue, QueueName};
use sqlx::{PgPool, postgres::PgPoolOptions};
use uuid::Uuid;

const NOTHING: QueueName = QueueName::new("nothing");
const AHEAD: usize = 500;

async fn nothing(_: u32) -> Result<(), BoxDynError> {
    Ok(())
}

async fn enqueue(pool: &PgPool, jobs: u32, lanes: u32) -> anyhow::Result<()> {
    sqlx::query("truncate queue.jobs").execute(pool).await?;
    let numbers: Vec<u32> = (0..jobs).collect();
    let started = Instant::now();
    for numbers in numbers.chunks(5000) {
        let lane = |n: &u32| Lane(Uuid::from_u128(u128::from(n % lanes)));
        let jobs: NewJobs = numbers
            .iter()
            .map(|n| NewJob::new(NOTHING, lane(n), n))
            .collect();
        queue::enqueue(&mut *pool.acquire().await?, &jobs).await?;
    }
    println!("  enqueued {:>7.0}/s", rate(jobs, started));
    sqlx::query("vacuum analyze queue.jobs")
        .execute(pool)
        .await?;
    Ok(())
}

fn rate(jobs: u32, started: Instant) -> f64 {
    f64::from(jobs) / started.elapsed().as_secs_f64()
}

/// The least that a queue must do: take a batch, delete it, in order of age, with nothing else in mind.
async fn by_hand(pool: &PgPool) -> anyhow::Result<()> {
    let mut conn = pool.acquire().await?;
    loop {
        let taken: Vec<(i64, String)> = sqlx::query_as(
            "update queue.jobs j
                set state = 1, locked_by = '00000000-0000-0000-0000-000000000000', attempt = attempt + 1
              where j.id = any (array(select id from queue.jobs
                                       where state = 0 and queue = 'nothing'
                                       order by queue, lane, priority desc, run_at, id
                                       limit 500
                                         for update skip locked))
             returning j.id, j.payload::text",
        )
        .fetch_all(&mut *conn)
        .await?;
        if taken.is_empty() {
            return Ok(());
        }
        for (_, payload) in &taken {
            nothing(serde_json::from_str(payload)?)
                .await
                .map_err(anyhow::Error::from_boxed)?;
        }
        let ids: Vec<i64> = taken.into_iter().map(|(id, _)| id).collect();
        sqlx::query("delete from queue.jobs where id = any ($1)")
            .bind(ids)
            .execute(&mut *conn)
            .await?;
    }
}

async fn by_queue(pool: &PgPool) -> anyhow::Result<()> {
    let queue = Queue::open(pool.clone(), Config::default())?;
    let monitor = Monitor::new().register({
        let queue = queue.clone();
        move |_| {
            WorkerBuilder::new("nothing")
                .backend(queue.backend::<u32>(BackendSettings::new(NOTHING).prefetch(2 * AHEAD)))
                .concurrency(AHEAD)
                .build(nothing)
        }
    });
    let stop = async {
        loop {
            let left = "select exists (select from queue.jobs)";
            match sqlx::query_scalar(left).fetch_one(pool).await {
                Ok(true) => tokio::time::sleep(Duration::from_millis(5)).await,
                Ok(false) => return Ok(()),
                Err(error) => return Err(std::io::Error::other(error)),
            }
        }
    };
    monitor.run_with_signal(stop).await?;
    queue.close(Duration::from_secs(5)).await;
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let url = std::env::var("DATABASE_URL").context("DATABASE_URL names an empty database")?;
    let mut args = std::env::args().skip(1);
    let mut number = |default| args.next().map_or(Ok(default), |arg| arg.parse::<u32>());
    let (jobs, lanes, rounds) = (number(50_000)?, number(100)?, number(3)?);
    let pool = PgPoolOptions::new()
        .max_connections(8)
        .connect(&url)
        .await?;
    queue::MIGRATOR.run(&pool).await?;
    for _ in 0..rounds {
        enqueue(&pool, jobs, lanes).await?;
        let started = Instant::now();
        by_hand(&pool).await?;
        let hand = rate(jobs, started);
        enqueue(&pool, jobs, lanes).await?;
        let started = Instant::now();
        by_queue(&pool).await?;
        let queue = rate(jobs, started);
        println!(
            "by hand {hand:>7.0}/s, by the queue {queue:>7.0}/s, ratio {:.2}",
            queue / hand
        );
    }
    Ok(())
}
