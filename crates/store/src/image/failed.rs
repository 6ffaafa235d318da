//! What happens when the examination of an image dies: the item goes on without it.

use domain::id::{MediaId, TeamId};
use queue::{DeadJob, FinishTx, OnDead};
use sqlx::PgConnection;
use tracing::error;
use uuid::Uuid;

use super::next;
use crate::jobs::{Marks, MediaJob};

/// An examination without attempts left: the item goes on without it, with a note that says so. If
/// the file is stored, but every worker that decoded it died, the note says that it could not be
/// decoded. No item is left without a verdict.
pub struct ExaminationDied;

impl OnDead for ExaminationDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let mut died = Vec::new();
        for job in dead {
            let Ok(MediaJob { media, .. }) = job.args() else {
                error!(job.id = %job.id, "a dead image job has no readable item id");
                continue;
            };
            died.push(media.as_uuid());
        }
        for item in give_up(tx.conn, &died).await? {
            // No request waits for as long as its attempts took.
            let marks = Marks::default();
            tx.jobs
                .push(next(item.media, item.team, item.uses_ai, marks));
        }
        Ok(())
    }
}

pub(super) struct GivenUp {
    media: MediaId,
    team: TeamId,
    uses_ai: bool,
}

pub(super) async fn give_up(
    conn: &mut PgConnection,
    media: &[Uuid],
) -> Result<Vec<GivenUp>, sqlx::Error> {
    sqlx::query_as!(
        GivenUp,
        r#"
        with pending as materialized (
            select id, team_id, site_id, group_versions from media where id = any($1) and status = 'pending'
        ),
        noted as (
            insert into media_images as i (media_id, site_id, problem)
            select id, site_id, 'not_fetched' from pending
            on conflict (media_id) do update set
                problem = case when i.bytes is null then 'not_fetched' else 'undecodable' end
        )
        select
            p.id as media,
            p.team_id as team,
            exists (
                select from rule_group_versions v where v.id = any(p.group_versions) and v.uses_ai
            ) as "uses_ai!"
        from pending p
        "#,
        media,
    )
    .fetch_all(conn)
    .await
}
