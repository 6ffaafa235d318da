//! All SQL of Gatehouse: one function per statement, one transaction per step.
//!
//! Callers see typed rows and neutral errors; no crate above this one knows a table's name. What a
//! worker wants to write when its job ends is an effect ([`item_progress::Progress`],
//! [`delivery::Attempted`]). The queue applies it in the transaction that finishes the job.

pub mod accept;
pub mod analysis;
pub mod audit;
pub mod backtest;
mod batches;
mod bisect;
pub mod bulk_decision;
pub mod chain;
pub mod closure;
pub mod created_event;
pub mod database_metrics;
pub mod delivery;
pub mod desk_settings;
pub mod encryption;
pub mod endpoint;
pub mod erasure;
mod error;
pub mod event;
pub mod example_data;
pub mod export;
pub mod gather;
pub mod hash_list;
mod id_time;
pub mod image;
pub mod import;
pub mod item_progress;
pub mod item_status;
pub mod item_worker;
pub mod jobs;
mod json;
pub mod key_rotation;
pub mod legal_hold;
pub mod media;
pub mod names;
pub mod page;
pub mod person;
pub mod plan;
pub mod provider;
pub mod provider_answers;
pub mod rate_limit;
pub mod recovery;
pub mod retention;
pub mod review;
pub mod review_policy;
pub mod rule_group;
pub mod schema;
pub mod site;
pub mod statistics;
pub mod subscription;
pub mod team;
pub mod token;
pub mod usage;
pub mod verdict;
pub mod verdict_waiters;

pub use self::error::Error;

/// What tells how often an error of the database is logged.
pub use database::Trouble;
/// A connection, a pool and a transaction. Callers pass them on without knowing SQL.
pub use sqlx::{PgConnection, PgPool, PgTransaction};
