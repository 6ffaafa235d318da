//! Sites, their keys and secrets: what a team sets up.

use domain::{
    id::{RuleGroupId, SiteId, SiteKeyId, TeamId},
    key::SiteKey,
    plan::Limit,
    signature::WebhookSecret,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, plan::limit, seal::MasterKey, webhook_secret};

/// Whether nobody has set anything up yet.
pub async fn is_empty(conn: &mut PgConnection) -> Result<bool, Error> {
    let empty = sqlx::query_scalar!(r#"select not exists (select from teams) as "empty!""#)
        .fetch_one(conn)
        .await?;
    Ok(empty)
}

/// Creates a site with a new webhook secret, which is returned to be shown once. Run it in a transaction.
///
/// # Errors
/// [`Error::NameTaken`], [`Error::LimitReached`].
pub async fn create_site(
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
        key.seal(&webhook_secret::owner(site), secret.expose().as_bytes()),
    )
    .execute(conn)
    .await?;
    Ok((site, secret))
}

/// A site's team; none if there is no such site.
pub async fn team_of_site(conn: &mut PgConnection, site: SiteId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!("select team_id from sites where id = $1", site.as_uuid())
        .fetch_optional(conn)
        .await?;
    Ok(team.map(TeamId::from))
}

/// Creates a key for a site; it is returned to be shown once. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`].
pub async fn create_site_key(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(SiteKeyId, SiteKey), Error> {
    if let Some(team) = team_of_site(conn, site).await? {
        limit::require(conn, team, Limit::SiteKeys).await?;
    }
    insert_site_key(conn, site).await
}

/// How many disabled keys of a team are remembered, so that replacing keys for ever leaves no more behind.
const DISABLED_KEYS: i64 = 1_000;

/// Forgets the keys that were disabled before all these, and how often they were used.
async fn forget_disabled_keys(conn: &mut PgConnection, site: SiteId) -> Result<(), Error> {
    sqlx::query!(
        "
        with forgotten as (
            delete from site_keys
            where id in (
                select k.id
                from sites s
                join site_keys k on k.site_id = s.id
                where s.team_id = (select team_id from sites where id = $1) and k.disabled_at is not null
                order by k.disabled_at desc, k.id desc
                offset $2
            )
            returning id
        )
        delete from rate_windows where site_key_id in (select id from forgotten)
        ",
        site.as_uuid(),
        DISABLED_KEYS,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn insert_site_key(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(SiteKeyId, SiteKey), Error> {
    forget_disabled_keys(conn, site).await?;
    let id = SiteKeyId::from(Uuid::now_v7());
    let key = SiteKey::generate(std::iter::repeat_with(rand::random));
    let hash = key.hash();
    sqlx::query!(
        "insert into site_keys (id, site_id, hash, hint) values ($1, $2, $3, $4)",
        id.as_uuid(),
        site.as_uuid(),
        hash.as_bytes(),
        key.hint(),
    )
    .execute(conn)
    .await?;
    Ok((id, key))
}

/// Replaces all keys of a site by a new one; the old ones are disabled at once. Run it in a transaction.
///
/// # Errors
/// [`Error::LimitReached`], only if there was no key to replace: a team that has reached its limit, or is beyond it, can always
/// replace a key that became known.
pub async fn rotate_site_key(
    conn: &mut PgConnection,
    site: SiteId,
) -> Result<(SiteKeyId, SiteKey), Error> {
    // Of two rotations at once, the second must see, and replace, what the first has created.
    sqlx::query!(
        "select id from sites where id = $1 for no key update",
        site.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let replaced = sqlx::query!(
        "update site_keys set disabled_at = now() where site_id = $1 and disabled_at is null",
        site.as_uuid(),
    )
    .execute(&mut *conn)
    .await?
    .rows_affected();
    if replaced > 0 {
        insert_site_key(conn, site).await
    } else {
        create_site_key(conn, site).await
    }
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
pub async fn find_site(
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
