//! How much a person has seen, for the person's own good.

use domain::id::{ActorId, TeamId};
use sqlx::PgConnection;

use crate::Error;

/// Counts a picture that somebody has unveiled.
pub async fn count_unveiled(
    conn: &mut PgConnection,
    actor: ActorId,
    team: TeamId,
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into review_exposures as e (actor_id, day, team_id, unveiled)
        values ($1, (now() at time zone 'UTC')::date, $2, 1)
        on conflict (actor_id, day) do update set unveiled = e.unveiled + 1
        ",
        actor.as_uuid(),
        team.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
