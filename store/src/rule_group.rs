//! Rule groups and their immutable versions.

use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    rules::Rule,
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
    /// Whether any of them asks for scores.
    pub uses_ai: bool,
}

/// A version's rules; none if there is no such version.
pub async fn find_version(pool: &PgPool, version: GroupVersionId) -> Result<Option<GroupVersion>, Error> {
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
    Ok(row.map(|row| GroupVersion { group: row.rule_group_id.into(), id: version, rules: row.rules.0 }))
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

/// Adds a version to a group and makes it live. Run it in a transaction.
pub async fn publish(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: NewVersion<'_>,
) -> Result<GroupVersionId, Error> {
    let version_id = Uuid::now_v7();
    // Locks the group first: two publications get two numbers.
    sqlx::query!("select id from rule_groups where id = $1 for update", group.as_uuid())
        .fetch_one(&mut *conn)
        .await?;
    insert_version(conn, version_id, group.as_uuid(), version).await?;
    sqlx::query!("update rule_groups set live_version_id = $2 where id = $1", group.as_uuid(), version_id)
        .execute(conn)
        .await?;
    Ok(version_id.into())
}

async fn insert_version(
    conn: &mut PgConnection,
    id: Uuid,
    group: Uuid,
    version: NewVersion<'_>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into rule_group_versions (id, rule_group_id, number, rules, uses_ai)
        select $1, $2, coalesce(max(number), 0) + 1, $3, $4
        from rule_group_versions
        where rule_group_id = $2
        ",
        id,
        group,
        Json(version.rules) as _,
        version.uses_ai,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A team's group by name.
pub async fn find_by_name(
    conn: &mut PgConnection,
    team: TeamId,
    name: &str,
) -> Result<Option<RuleGroupId>, Error> {
    let id = sqlx::query_scalar!(
        "select id from rule_groups where team_id = $1 and name = $2",
        team.as_uuid(),
        name,
    )
    .fetch_optional(conn)
    .await?;
    Ok(id.map(RuleGroupId::from))
}
