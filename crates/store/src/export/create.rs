//! Creating an export.

use domain::{
    actor::Actor,
    id::{ExportId, SiteId, TeamId},
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

/// The most exports that a team can have at a time. Those that closures create are not counted.
pub const MOST: i64 = 10;

/// An export to create.
#[derive(Clone, Copy, Debug)]
pub struct NewExport {
    /// The site's team.
    pub team: TeamId,
    /// The site.
    pub site: SiteId,
    /// Who creates it.
    pub by: Actor,
}

/// Creates an export of everything that the site has by now. None: the team has [`MOST`] exports already. Run it in a
/// transaction.
pub async fn create(conn: &mut PgConnection, new: NewExport) -> Result<Option<ExportId>, Error> {
    lock_team(conn, new.team).await?;
    let id = ExportId::from(Uuid::now_v7());
    let created = sqlx::query!(
        "
        insert into exports (id, team_id, site_id, created_by, upto)
        select $1, $2, $3, $4, $5
        where (select count(*) from exports where team_id = $2 and expires_at > now() and closure_id is null) < $6
        ",
        id.as_uuid(),
        new.team.as_uuid(),
        new.site.as_uuid(),
        new.by.as_uuid(),
        // Larger than the id of everything that this process has accepted.
        Uuid::now_v7(),
        MOST,
    )
    .execute(conn)
    .await?;
    Ok((created.rows_affected() == 1).then_some(id))
}

/// So that two creations at once are counted one after the other.
async fn lock_team(conn: &mut PgConnection, team: TeamId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "select id from teams where id = $1 for no key update",
        team.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(())
}
