//! Creating a group, whose first version is live.

use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    plan::Limit,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    NAME_KEY,
    version::{self, Authorship, NewVersion},
};
use crate::{Error, plan::limit};

/// Creates a group whose first version is live, from the command line. Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    version: NewVersion<'_>,
) -> Result<RuleGroupId, Error> {
    create_as(conn, team, name, version, Authorship::COMMAND_LINE).await
}

/// Creates a group whose first version is live. Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create_as(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    version: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<RuleGroupId, Error> {
    limit::require(conn, team, Limit::RuleGroups).await?;
    let group = RuleGroupId::from(Uuid::now_v7());
    let first = GroupVersionId::from(Uuid::now_v7());
    sqlx::query!(
        "insert into rule_groups (id, team_id, name, live_version_id) values ($1, $2, $3, $4)",
        group.as_uuid(),
        team.as_uuid(),
        name,
        first.as_uuid(),
    )
    .execute(&mut *conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    version::insert(conn, first, group, version, authorship).await?;
    version::record_publication(conn, group, first, authorship.by).await?;
    Ok(group)
}
