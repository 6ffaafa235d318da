//! Tests of the whole service: the real binary, its own Postgres, real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod dashboards;
mod prometheus;
mod providers;
mod queue_commands;
mod support;
mod way;
