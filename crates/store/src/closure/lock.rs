//! Whether a site or a team is open, for code that changes it.

use domain::id::{ClosureId, SiteId, TeamId};
use sqlx::PgConnection;

use crate::Error;

/// A site or a team that is closed, or is being closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The closure.
    pub closure: ClosureId,
    /// Whether it is closed for good: the closure cannot be cancelled any more.
    pub is_closed: bool,
}

/// Whether a site is closed, or being closed; none while it is open. It stays so until the transaction ends.
pub async fn of_site(conn: &mut PgConnection, site: SiteId) -> Result<Option<Closing>, Error> {
    let row = sqlx::query!(
        r#"
        select closure_id, closed_at is not null as "is_closed!"
        from sites
        where id = $1
        for no key update
        "#,
        site.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.and_then(|row| {
        let closure = row.closure_id?.into();
        Some(Closing {
            closure,
            is_closed: row.is_closed,
        })
    }))
}

/// The same of a team.
pub async fn of_team(conn: &mut PgConnection, team: TeamId) -> Result<Option<Closing>, Error> {
    let row = sqlx::query!(
        r#"
        select closure_id, closed_at is not null as "is_closed!"
        from teams
        where id = $1
        for no key update
        "#,
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.and_then(|row| {
        let closure = row.closure_id?.into();
        Some(Closing {
            closure,
            is_closed: row.is_closed,
        })
    }))
}
