//! What happens when the job dies that tells a decision: the review waits again.

use queue::{DeadJob, FinishTx, OnDead};
use sqlx::PgConnection;
use tracing::error;
use uuid::Uuid;

use crate::jobs::ReviewJob;

/// A decision that could not be told: it counts as undone, and the review waits again. No review is
/// lost.
pub struct ReviewDied;

impl OnDead for ReviewDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut opinions = Vec::new();
        for job in dead {
            let Ok(ReviewJob { opinion }) = job.args() else {
                error!(job.id = %job.id, "a dead job of a review has no readable id");
                continue;
            };
            opinions.push(opinion.as_uuid());
        }
        forget(tx.conn, &opinions).await
    }
}

async fn forget(conn: &mut PgConnection, opinions: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        with released as (
            update review_tasks
            set held_until = null
            where id in (select task_id from review_opinions where id = any($1) and outcome is null)
        )
        delete from review_opinions where id = any($1) and outcome is null
        ",
        opinions,
    )
    .execute(conn)
    .await?;
    Ok(())
}
