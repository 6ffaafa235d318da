//! Groups and versions of an archive: stored under ids that are given, as of the time at which they were made.

use chrono::{DateTime, Utc};
use domain::id::{GroupVersionId, RuleGroupId, TeamId};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{NAME_KEY, NewVersion, hash_lists, version::record_publication};
use crate::Error;

/// A group of an archive, with its live version.
#[derive(Clone, Copy, Debug)]
pub struct ImportedGroup<'a> {
    /// Its id here.
    pub id: RuleGroupId,
    /// The team that gets it.
    pub team: TeamId,
    /// Its name.
    pub name: &'a str,
    /// Whether it was deleted.
    pub deleted: bool,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A version of an archive.
#[derive(Clone, Copy, Debug)]
pub struct ImportedVersion<'a> {
    /// Its id here.
    pub id: GroupVersionId,
    /// Its number in the archive.
    pub number: i32,
    /// Its author's note.
    pub note: &'a str,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Its rules, which compile.
    pub content: NewVersion<'a>,
}

/// The team of any group, also of one that was deleted; none if there is no such group.
pub async fn owner(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!(
        "select team_id from rule_groups where id = $1",
        group.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(team.map(TeamId::from))
}

/// Whether a group of the team that is not deleted has this name.
pub async fn is_named(conn: &mut PgConnection, team: TeamId, name: &str) -> Result<bool, Error> {
    let taken = sqlx::query_scalar!(
        r#"
        select exists (select from rule_groups where team_id = $1 and name = $2 and disabled_at is null) as "taken!"
        "#,
        team.as_uuid(),
        name,
    )
    .fetch_one(conn)
    .await?;
    Ok(taken)
}

/// Stores a group with its live version. Run it in a transaction. The plan's limit of groups is not asked.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn import_group(
    conn: &mut PgConnection,
    group: ImportedGroup<'_>,
    live: ImportedVersion<'_>,
) -> Result<(), Error> {
    sqlx::query!(
        "
        insert into rule_groups (id, team_id, name, live_version_id, created_at, disabled_at)
        values ($1, $2, $3, $4, $5, case when $6 then now() end)
        ",
        group.id.as_uuid(),
        group.team.as_uuid(),
        group.name,
        live.id.as_uuid(),
        group.created_at,
        group.deleted,
    )
    .execute(&mut *conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    import_version(conn, group.id, live).await?;
    record_publication(conn, group.id, live.id, domain::actor::Actor::CommandLine).await?;
    Ok(())
}

/// Stores a version. If the group has another version of this number, it gets the next free one. It is never removed as unused:
/// items name it, and nobody recorded here when it was live.
pub async fn import_version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: ImportedVersion<'_>,
) -> Result<(), Error> {
    let NewVersion { rules, categories } = version.content;
    let categories: Vec<&str> = categories.iter().map(|c| c.as_str()).collect();
    sqlx::query!(
        "
        insert into rule_group_versions
            (id, rule_group_id, number, rules, categories, uses_ai, note, hash_lists, created_at, kept)
        select
            $1,
            $2,
            case
                when exists (select from rule_group_versions where rule_group_id = $2 and number = $3)
                    then (select max(number) + 1 from rule_group_versions where rule_group_id = $2)
                else $3
            end,
            $4,
            $5,
            cardinality($5::text []) > 0,
            $6,
            $7,
            $8,
            true
        ",
        version.id.as_uuid(),
        group.as_uuid(),
        version.number,
        Json(rules) as _,
        &categories as &[&str],
        version.note,
        &hash_lists(rules) as &[Uuid],
        version.created_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Keeps a version for ever, because imported items name it.
pub async fn keep(conn: &mut PgConnection, version: GroupVersionId) -> Result<(), Error> {
    sqlx::query!(
        "update rule_group_versions set kept = true where id = $1 and kept is null",
        version.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
