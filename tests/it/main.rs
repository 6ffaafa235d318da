//! Tests of the whole service: the real binary, its own Postgres, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod admin;
mod api_and_command_line;
mod audit;
mod bottlenecks;
mod closures;
mod compat_unstored;
mod crashes;
mod dashboards;
mod database_privileges;
mod desk;
mod draining;
mod erasures;
mod example_data;
mod exports;
mod file_descriptors;
mod first_hour;
mod hash_lists;
mod hostile;
mod images;
mod incidents;
mod item_path;
mod limits;
mod logs;
mod master_key;
mod metrics;
mod people;
mod prefer_wait;
mod prometheus;
mod providers;
#[expect(dead_code, reason = "the queue's tests need more of it")]
#[path = "../../crates/queue/tests/shared/proxy.rs"]
mod proxy;
mod queue_commands;
mod retention;
mod review;
mod rolling_restart;
mod rules;
mod schema;
mod secrets;
#[expect(dead_code, reason = "the queue's tests need more of it")]
#[path = "../../crates/queue/tests/shared/server.rs"]
mod server;
mod stored_heavy_rules;
mod submit_command;
mod supervisors;
mod support;
mod terminal;
mod thresholds_command;
mod trace;
mod unchecked;
mod versions;
mod webhooks;
mod wrong_configurations;
