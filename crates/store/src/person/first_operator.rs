//! The first person: while nobody runs the instance, a link makes its user the first operator.

use domain::{actor::Actor, id::TeamId, key::LinkSecret, sign_in_limits::INVITATION};
use sqlx::PgConnection;
use uuid::Uuid;

use super::session::seconds;
use crate::Error;

/// Whether somebody runs the instance.
pub async fn is_run(conn: &mut PgConnection) -> Result<bool, Error> {
    let is_run = sqlx::query_scalar!(
        r#"select exists (select from memberships where team_id is null and disabled_at is null) as "is_run!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(is_run)
}

/// A link for the first operator, who also becomes an owner of the team, if one is named. Earlier such links stop working.
pub async fn link(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    by: Actor,
) -> Result<LinkSecret, Error> {
    sqlx::query!("delete from links where kind = 'first'")
        .execute(&mut *conn)
        .await?;
    let secret = LinkSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    sqlx::query!(
        "
        insert into links (id, kind, hash, team_id, creator, created_by, expires_at)
        values ($1, 'first', $2, $3, $4, $5, now() + make_interval(secs => $6))
        ",
        Uuid::now_v7(),
        hash.as_bytes(),
        team.map(TeamId::as_uuid),
        by.kind(),
        by.as_uuid(),
        seconds(INVITATION),
    )
    .execute(conn)
    .await?;
    Ok(secret)
}
