//! Starting a scan: its row, and the job of its first slice.

use domain::{
    actor::Actor,
    id::{HashListId, HashScanId, TeamId},
};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, chain, jobs};

/// A scan to run.
#[derive(Clone, Copy, Debug)]
pub struct NewScan {
    /// The list.
    pub list: HashListId,
    /// Whose items; none: those of all teams.
    pub team: Option<TeamId>,
    /// Only entries with a newer revision; none: all.
    pub since_revision: Option<i64>,
    /// Who did it.
    pub by: Actor,
}

/// Creates a scan with its first job. Tell the queue of the job after the commit. None: such a scan
/// of the list is running already. Run it in a transaction, and roll the transaction back if the
/// answer is none.
pub async fn create(
    conn: &mut PgConnection,
    new: NewScan,
) -> Result<Option<(HashScanId, NewJobs)>, Error> {
    let id = HashScanId::from(Uuid::now_v7());
    let inserted = sqlx::query!(
        "
        insert into hash_scans (id, list_id, team_id, since_revision, until, oldest, created_by)
        select
            $1, $2, $3, $4, now(),
            case
                when $3::uuid is null then (select m.created_at from media m order by m.id limit 1)
                else (
                    select min(o.created_at)
                    from sites s
                    cross join lateral (
                        select m.created_at from media m where m.site_id = s.id order by m.id limit 1
                    ) o
                    where s.team_id = $3
                )
            end,
            $5
        ",
        id.as_uuid(),
        new.list.as_uuid(),
        new.team.map(TeamId::as_uuid),
        new.since_revision,
        new.by.as_uuid(),
    )
    .execute(&mut *conn)
    .await;
    if !chain::is_inserted(inserted, "hash_scans_running_key")? {
        return Ok(None);
    }
    let jobs = chain::begin(conn, jobs::scan(id, new.list, new.team)).await?;
    Ok(Some((id, jobs)))
}
