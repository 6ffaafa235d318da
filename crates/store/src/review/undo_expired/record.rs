//! Records what became of an opinion that can no longer be undone, and of its review.

use domain::{
    id::OpinionId,
    review::{Outcome, ReviewKind},
};
use sqlx::PgConnection;

use super::load::Spoken;

/// Notes what became of an opinion.
pub(super) async fn outcome(
    conn: &mut PgConnection,
    opinion: OpinionId,
    outcome: Outcome,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update review_opinions set outcome = $2 where id = $1",
        opinion.as_uuid(),
        outcome.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Asks a second person, who sees nothing of what the first one said.
pub(super) async fn ask_another(
    conn: &mut PgConnection,
    spoken: &Spoken,
) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Waits).await?;
    sqlx::query!(
        "update review_tasks set held_until = null, needed = 2, not_for = not_for || $2::uuid where id = $1",
        spoken.review.as_uuid(),
        spoken.actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Asks a lead who is neither of the two.
pub(super) async fn ask_lead(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Disagreed).await?;
    if let Some(before) = spoken.before {
        outcome(conn, before.id, Outcome::Disagreed).await?;
    }
    sqlx::query!(
        "update review_tasks set held_until = null, tier = 2, not_for = not_for || $2::uuid where id = $1",
        spoken.review.as_uuid(),
        spoken.actor.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Somebody else has decided about the item. A review of an item that waits goes on, if it is there.
pub(super) async fn superseded(
    conn: &mut PgConnection,
    spoken: &Spoken,
) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Superseded).await?;
    if spoken.kind != ReviewKind::Review {
        return end(conn, spoken).await;
    }
    sqlx::query!(
        "update review_tasks set held_until = null where id = $1",
        spoken.review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The verdict in force stays.
pub(super) async fn kept(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    outcome(conn, spoken.id, Outcome::Agreed).await?;
    end(conn, spoken).await
}

/// The answer is known. If somebody has taken the item off the known answers, nothing is said.
pub(super) async fn graded(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update review_opinions o
        set
            outcome = coalesce(
                (
                    select case when g.expected = o.ruling then 'right' else 'wrong' end
                    from golden_items g
                    where g.media_id = o.media_id
                ),
                'superseded'
            )
        where o.id = $1
        ",
        spoken.id.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    end(conn, spoken).await
}

/// Ends the review.
pub(super) async fn end(conn: &mut PgConnection, spoken: &Spoken) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from review_tasks where id = $1",
        spoken.review.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
