//! Tests of the whole service: the real binary, its own Postgres, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod account;
mod admin;
mod audit;
mod bottlenecks;
mod closures;
mod compat_unstored;
mod crashes;
mod dashboards;
mod desk;
mod draining;
mod erasures;
mod example_data;
mod exports;
mod api_and_command_line;
mod first_hour;
mod hash_lists;
mod stored_heavy_rules;
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
mod database_privileges;
mod rolling_restart;
mod rules;
mod schema;
mod secrets;
#[expect(dead_code, reason = "the queue's tests need more of it")]
#[path = "../../crates/queue/tests/shared/server.rs"]
mod server;
mod file_descriptors;
mod submit_command;
mod supervisors;
mod support;
mod terminal;
mod thresholds_command;
mod trace;
mod unchecked;
mod versions;
mod prefer_wait;
mod item_path;
mod webhooks;
mod wrong_configurations;
