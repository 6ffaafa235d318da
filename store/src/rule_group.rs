//! Rule groups and their immutable versions.

use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    rules::Rule,
    score::Category,
};
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

use crate::Error;

/// A version as it was published.
#[derive(Clone, Debug)]
pub struct GroupVersion {
    /// The group.
    pub group: RuleGroupId,
    /// The version.
    pub id: GroupVersionId,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Rule>,
}

/// A new version's content: rules that compile, which the caller has seen to.
#[derive(Clone, Copy, Debug)]
pub struct NewVersion<'a> {
    /// The rules.
    pub rules: &'a [Rule],
    /// The categories whose scores the enabled ones ask for; with any, submissions are analysed first.
    pub categories: &'a [Category],
}

/// A version's rules; none if there is no such version.
pub async fn find_version(
    pool: &PgPool,
    version: GroupVersionId,
) -> Result<Option<GroupVersion>, Error> {
    let row = sqlx::query!(
        r#"
        select rule_group_id, rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions
        where id = $1
        "#,
        version.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| GroupVersion {
        group: row.rule_group_id.into(),
        id: version,
        rules: row.rules.0,
    }))
}

/// A group's team; none if there is no such group.
pub async fn team_of(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!(
        "select team_id from rule_groups where id = $1",
        group.as_uuid()
    )
    .fetch_optional(conn)
    .await?;
    Ok(team.map(TeamId::from))
}

/// Creates a group whose first version is live. Run it in a transaction.
pub async fn create(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
    version: NewVersion<'_>,
) -> Result<RuleGroupId, Error> {
    let group = Uuid::now_v7();
    let version_id = Uuid::now_v7();
    sqlx::query!(
        "insert into rule_groups (id, team_id, name, live_version_id) values ($1, $2, $3, $4)",
        group,
        team.as_uuid(),
        name,
        version_id,
    )
    .execute(&mut *conn)
    .await?;
    insert_version(conn, version_id, group, version).await?;
    Ok(group.into())
}

/// Adds a version to a team's group and makes it live; none if the team has no such group. Run it in a transaction.
pub async fn publish(
    conn: &mut PgConnection,
    team: TeamId,
    group: RuleGroupId,
    version: NewVersion<'_>,
) -> Result<Option<GroupVersionId>, Error> {
    // Locks the group first: two publications get two numbers.
    let found = sqlx::query!(
        "select id from rule_groups where id = $1 and team_id = $2 for update",
        group.as_uuid(),
        team.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    if found.is_none() {
        return Ok(None);
    }
    let version_id = Uuid::now_v7();
    insert_version(conn, version_id, group.as_uuid(), version).await?;
    sqlx::query!(
        "update rule_groups set live_version_id = $2 where id = $1",
        group.as_uuid(),
        version_id
    )
    .execute(conn)
    .await?;
    Ok(Some(version_id.into()))
}

async fn insert_version(
    conn: &mut PgConnection,
    id: Uuid,
    group: Uuid,
    version: NewVersion<'_>,
) -> Result<(), sqlx::Error> {
    let categories: Vec<&str> = version.categories.iter().map(|c| c.as_str()).collect();
    sqlx::query!(
        "
        insert into rule_group_versions (id, rule_group_id, number, rules, categories, uses_ai)
        select $1, $2, coalesce(max(number), 0) + 1, $3, $4, cardinality($4::text []) > 0
        from rule_group_versions
        where rule_group_id = $2
        ",
        id,
        group,
        Json(version.rules) as _,
        &categories as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}
