//! `gatehouse admin`: from an empty database to a token that manages it.

mod mistakes;
mod setup;

use serde_json::Value;
use sqlx::PgPool;

use crate::support::run;

fn made(pool: &PgPool, arguments: &[&str]) -> Value {
    let output = run(pool, &[&["admin", "--json"], arguments].concat());
    serde_json::from_slice(&output).unwrap()
}

fn text<'v>(made: &'v Value, name: &str) -> &'v str {
    made[name].as_str().unwrap()
}
