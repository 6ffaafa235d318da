//! A durable job queue on Postgres: an apalis backend with lanes, leases and a transactional finish.
//!
//! Jobs are apalis jobs, run by its `WorkerBuilder` and `Monitor`. The `README.md` explains what this crate promises,
//! and how it keeps its promises. It does not know what the jobs are about.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use apalis::{layers::WorkerBuilderExt, prelude::{BoxDynError, Monitor, WorkerBuilder}};
//! use queue::{BackendSettings, Config, Effect, FinishTx, Queue, QueueName, Survivor};
//!
//! const GREETINGS: QueueName = QueueName::new("greetings");
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Greet { name: String }
//!
//! /// What a finished greeting leaves in the database.
//! struct Greeted { name: String }
//!
//! impl Effect for Greeted {
//!     async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
//!         let names: Vec<&str> = batch.iter().map(|job| job.effect.name.as_str()).collect();
//!         sqlx::query("insert into greeted (name) select unnest($1::text[])")
//!             .bind(names)
//!             .execute(&mut *tx.conn)
//!             .await?;
//!         Ok(())
//!     }
//! }
//!
//! async fn greet(job: Greet) -> Result<Greeted, BoxDynError> {
//!     Ok(Greeted { name: job.name })
//! }
//!
//! # async fn run(pool: sqlx::PgPool) -> Result<(), Box<dyn std::error::Error>> {
//! queue::MIGRATOR.run(&pool).await?;
//! let queue = Queue::open(pool, Config::default())?;
//! let workers = Monitor::new()
//!     .register({
//!         let queue = queue.clone();
//!         move |_| {
//!             WorkerBuilder::new("greetings")
//!                 .backend(queue.backend::<Greet>(BackendSettings::new(GREETINGS).lane_cap(8)))
//!                 .concurrency(32)
//!                 .timeout(Duration::from_secs(30))
//!                 .build(greet)
//!         }
//!     })
//!     .shutdown_timeout(Duration::from_secs(20));
//! workers.run_with_signal(tokio::signal::ctrl_c()).await?;
//! queue.close(Duration::from_secs(5)).await;
//! # Ok(())
//! # }
//! ```

mod after_commit;
mod backend;
mod bottleneck;
mod buffer;
mod checkpoint;
mod claim;
mod clock;
mod complete;
mod config;
pub mod dead_jobs;
mod dead_letter;
mod dedicated_connection;
pub mod depth;
mod effect;
mod enqueue;
mod fault;
mod fence;
mod finisher;
mod generations;
pub mod groups;
mod handle;
mod heartbeat;
mod housekeeping;
mod in_flight;
mod inbox;
mod job;
pub mod lanes;
mod layer;
mod lease;
pub mod live_jobs;
mod local_wakeups;
mod local_workers;
mod lock;
pub mod metrics;
mod notify;
mod orphans;
mod outcome;
pub mod pauses_and_caps;
mod preclaimed;
mod promote;
pub mod queues;
mod rescue;
pub mod retry;
mod sampler;
mod shared;
mod slots;
mod supervise;
#[cfg(test)]
mod tests;
pub mod workers;

pub use backend::LaneBackend;
pub use bottleneck::{Bottleneck, BottleneckShare, Waiting, Waits};
pub use checkpoint::Checkpoint;
pub use clock::now;
pub use config::{BackendSettings, Config, SettingsError};
pub use effect::{DeadJob, DeathCause, Effect, Finish, FinishTx, IntoFinish, OnDead, Survivor};
pub use enqueue::{Columns, DEFAULT_MAX_ATTEMPTS, MAX_PAYLOAD, NewJob, NewJobs, enqueue};
pub use fault::Fault;
pub use handle::Queue;
pub use job::{Group, JobId, Lane, QueueName, Run};
pub use layer::{FinishLayer, FinishService};
pub use notify::wake;
pub use outcome::NotRecorded;
pub use preclaimed::{PreclaimedColumns, Reservation};
pub use retry::Retry;
pub use workers::Process;

/// Creates and updates the schema `queue`. It keeps its own list in `queue._migrations` and so goes
/// beside the migrations of the service that uses it.
pub static MIGRATOR: sqlx::migrate::Migrator = sqlx::migrate!();
