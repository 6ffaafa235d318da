//! Sessions of people who are signed in, with both factors.

use domain::id::UserId;
use sqlx::{Connection as _, PgConnection};
use store::person::session::{self, Origin};
use uuid::Uuid;

/// Signs a person whom the sample data contains, and returns what the browser holds.
pub(super) async fn sign_in(conn: &mut PgConnection, number: i32) -> anyhow::Result<String> {
    let mut tx = conn.begin().await?;
    let user: Uuid = sqlx::query_scalar("select \"user\" from bench.people where number = $1")
        .bind(number)
        .fetch_one(&mut *tx)
        .await?;
    // So that the people that need a second factor have one.
    sqlx::query("insert into factors (user_id, secret, confirmed_at) values ($1, '\\x00', now()) on conflict do nothing")
        .bind(user)
        .execute(&mut *tx)
        .await?;
    let origin = Origin {
        address: "127.0.0.1",
        user_agent: "gatehouse-bench",
    };
    let (id, secret) = session::create(&mut tx, UserId::from(user), origin).await?;
    sqlx::query("update sessions set factor_at = now() where id = $1")
        .bind(id.as_uuid())
        .execute(&mut *tx)
        .await?;
    tx.commit().await?;
    Ok(secret.expose().to_owned())
}
