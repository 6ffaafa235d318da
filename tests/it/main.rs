//! Tests of the whole service: the real binary, its own Postgres, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod admin;
mod audit;
mod bounds;
mod closures;
mod compat_store;
mod crashes;
mod dashboards;
mod desk;
mod draining;
mod erasures;
mod example_data;
mod exports;
mod faces;
mod first_hour;
mod hash_lists;
mod heavy_rules;
mod hostile;
mod images;
mod incidents;
mod limits;
mod logs;
mod master_key;
mod metrics;
mod people;
mod prometheus;
mod providers;
#[expect(dead_code, reason = "the queue's tests need more of it")]
#[path = "../../crates/queue/tests/shared/proxy.rs"]
mod proxy;
mod queue_commands;
mod retention;
mod review;
mod rights;
mod rolling_restart;
mod rules;
mod schema;
mod secrets;
#[expect(dead_code, reason = "the queue's tests need more of it")]
#[path = "../../crates/queue/tests/shared/server.rs"]
mod server;
mod sockets;
mod submit_command;
mod supervised;
mod support;
mod terminal;
mod thresholds_command;
mod trace;
mod unchecked;
mod versions;
mod waits;
mod way;
mod webhooks;
mod wrong_configurations;
