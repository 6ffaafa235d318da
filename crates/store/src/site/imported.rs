//! A site of an archive.

use chrono::{DateTime, Utc};
use domain::{
    id::{SiteId, TeamId},
    signature::WebhookSecret,
};
use sqlx::PgConnection;

use super::{
    NAME_KEY,
    settings::{self, Settings},
    webhook_secret::owner,
};
use crate::{Error, encryption::MasterKey};

/// Whether a site of the team has this name.
pub async fn is_named(conn: &mut PgConnection, team: TeamId, name: &str) -> Result<bool, Error> {
    let taken = sqlx::query_scalar!(
        r#"select exists (select from sites where team_id = $1 and name = $2) as "taken!""#,
        team.as_uuid(),
        name,
    )
    .fetch_one(conn)
    .await?;
    Ok(taken)
}

/// Stores a site under an id that is given, with a new webhook secret. Its groups must be there. Run it in a transaction. The
/// plan's limit of sites is not asked.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn import(
    conn: &mut PgConnection,
    key: &MasterKey,
    (team, site): (TeamId, SiteId),
    created_at: DateTime<Utc>,
    settings: &Settings,
) -> Result<(), Error> {
    let secret = WebhookSecret::from_random(rand::random());
    sqlx::query!(
        "
        insert into sites (id, team_id, name, default_rule_group_id, webhook_secret, created_at)
        values ($1, $2, $3, $4, $5, $6)
        ",
        site.as_uuid(),
        team.as_uuid(),
        settings.name,
        settings.default_rule_group.as_uuid(),
        key.seal(&owner(site), secret.expose().as_bytes()),
        created_at,
    )
    .execute(&mut *conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    settings::change(conn, site, settings).await
}
