//! The chains of the audit log on a real Postgres: sealing, what an attacker with all rights on the
//! database can do and what shows it, and retention.

mod retention;
mod sealing;
mod tampering;
mod triggers;

use domain::{
    actor::Actor,
    audit::{
        Action,
        chain::{ChainId, Finding, Link},
    },
    id::TeamId,
};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};
use store::{
    audit::{self, Entry, sealing::catch_up, verify::Report},
    schema,
};
use uuid::Uuid;

const NO_TEAM: ChainId = ChainId::WITHOUT_TEAM;

fn team(number: u128) -> ChainId {
    ChainId::of(Some(TeamId::from_uuid(Uuid::from_u128(number))))
}

/// Records a change of a team, as use cases do.
async fn record(pool: &PgPool, chain: ChainId) {
    let entry = Entry {
        actor: Actor::CommandLine,
        action: Action::TeamUpdate,
        team: chain.team(),
        target: chain.team().map(TeamId::as_uuid),
        details: &json!({ "changed": { "name": { "from": "a", "to": "ä" } } }),
        request_id: Some("request"),
    };
    let mut conn = pool.acquire().await.unwrap();
    audit::record(&mut conn, entry).await.unwrap();
}

/// A database with so many sealed rows in one chain.
async fn sealed(pool: &PgPool, chain: ChainId, rows: usize) {
    schema::migrate(pool).await.unwrap();
    add(pool, chain, rows).await;
}

async fn add(pool: &PgPool, chain: ChainId, rows: usize) {
    for _ in 0..rows {
        record(pool, chain).await;
    }
    assert_eq!(catch_up(pool).await.unwrap(), rows as u64);
}

async fn run(pool: &PgPool, statements: &str) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned()))
        .execute(pool)
        .await
        .map(drop)
}

/// Runs statements as somebody who has turned off the triggers.
async fn tamper(pool: &PgPool, statements: &str) {
    let all = format!("set session_replication_role = replica; {statements}");
    let mut conn = pool.acquire().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(all))
        .execute(&mut *conn)
        .await
        .unwrap();
    sqlx::raw_sql("set session_replication_role = default")
        .execute(&mut *conn)
        .await
        .unwrap();
}

async fn verify(pool: &PgPool, chain: ChainId, known: Option<Link>) -> Report {
    let mut conn = pool.acquire().await.unwrap();
    audit::verify::verify(&mut conn, chain, known)
        .await
        .unwrap()
}

async fn finding(pool: &PgPool, chain: ChainId) -> Option<Finding> {
    verify(pool, chain, None).await.finding
}

/// The id of the row with this number.
async fn row(pool: &PgPool, number: i64) -> Uuid {
    sqlx::query_scalar("select id from audit_log where chain_number = $1")
        .bind(number)
        .fetch_one(pool)
        .await
        .unwrap()
}

async fn head(pool: &PgPool, chain: ChainId) -> Link {
    let mut conn = pool.acquire().await.unwrap();
    let ends = audit::ends(&mut conn, chain).await.unwrap();
    ends.unwrap().head
}

async fn count(pool: &PgPool, statement: &'static str) -> i64 {
    sqlx::query_scalar(statement).fetch_one(pool).await.unwrap()
}
