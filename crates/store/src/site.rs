//! Sites: the applications that submit media.
//!
//! A site is created with a webhook secret ([`create()`]) and gets keys ([`keys`]). Its team
//! changes its [`settings`] and rotates its [`webhook_secret`]. Submissions see a cached copy of it
//! ([`Sites`]).

pub mod keys;
pub mod readiness;
pub mod settings;
mod snapshot;
pub mod webhook_secret;

use chrono::{DateTime, Utc};
use domain::{
    id::{RuleGroupId, SiteId, TeamId},
    plan::Limit,
    signature::WebhookSecret,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::snapshot::{Judges, Site, Sites, Subscriber};
use self::{settings::Settings, webhook_secret::owner};
use crate::{Error, encryption::MasterKey, plan::limit};

/// Two sites of a team cannot have one name.
const NAME_KEY: &str = "sites_name_key";

/// How many sites of a team, the newest ones, are looked at together.
const MOST: i64 = 1_000;

/// The ids of a team's sites, the newest first, or of one of them.
pub async fn of_team(
    conn: &mut PgConnection,
    team: TeamId,
    only: Option<SiteId>,
) -> Result<Vec<SiteId>, Error> {
    let ids = sqlx::query_scalar!(
        "
        select id
        from sites
        where team_id = $1 and ($2::uuid is null or id = $2)
        order by id desc
        limit $3
        ",
        team.as_uuid(),
        only.map(SiteId::as_uuid),
        MOST,
    )
    .fetch_all(conn)
    .await?;
    Ok(ids.into_iter().map(SiteId::from).collect())
}

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
