//! Tests of the whole service: the real binary, its own Postgres, real sockets.

mod dashboards;
mod prometheus;
mod support;
mod way;
