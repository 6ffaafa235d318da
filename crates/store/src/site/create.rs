//! Making a site, and finding one.

use domain::{
    id::{RuleGroupId, SiteId, TeamId},
    plan::Limit,
    signature::WebhookSecret,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{NAME_KEY, webhook_secret::owner};
use crate::{Error, encryption::MasterKey, plan::limit};

/// Creates a site with a new webhook secret, which is returned so that it can be shown once. Run it
/// in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create(
    conn: &mut PgConnection,
    key: &MasterKey,
    team: TeamId,
    name: &str,
    default_group: RuleGroupId,
) -> Result<(SiteId, WebhookSecret), Error> {
    limit::require(conn, team, Limit::Sites).await?;
    let site = SiteId::from(Uuid::now_v7());
    let secret = WebhookSecret::from_random(rand::random());
    sqlx::query!(
        "
        insert into sites (id, team_id, name, default_rule_group_id, webhook_secret)
        values ($1, $2, $3, $4, $5)
        ",
        site.as_uuid(),
        team.as_uuid(),
        name,
        default_group.as_uuid(),
        key.seal(&owner(site), secret.expose().as_bytes()),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok((site, secret))
}

/// A site's team; none if there is no such site.
pub async fn team_of(conn: &mut PgConnection, site: SiteId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!("select team_id from sites where id = $1", site.as_uuid())
        .fetch_optional(conn)
        .await?;
    Ok(team.map(TeamId::from))
}

/// A site found by its name.
#[derive(Clone, Copy, Debug)]
pub struct FoundSite {
    /// The site.
    pub id: SiteId,
    /// Its team.
    pub team: TeamId,
    /// The group that judges when no other does.
    pub default_group: RuleGroupId,
}

/// The oldest site of this name in a team of that name.
pub async fn find_named(
    conn: &mut PgConnection,
    team: &str,
    site: &str,
) -> Result<Option<FoundSite>, Error> {
    let row = sqlx::query!(
        "
        select s.id, s.team_id, s.default_rule_group_id
        from sites s
        join teams t on t.id = s.team_id
        where t.name = $1 and s.name = $2
        order by s.created_at
        limit 1
        ",
        team,
        site,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| FoundSite {
        id: row.id.into(),
        team: row.team_id.into(),
        default_group: row.default_rule_group_id.into(),
    }))
}
