//! Reading versions: one with its rules, or those of a group without.

use domain::{
    id::{GroupVersionId, RuleGroupId},
    rules::Rule,
};
use sqlx::{PgConnection, PgPool, types::Json};

use super::{ListedVersion, Version};
use crate::{Error, page::Page, rule_group::actor};

/// A version as it was published.
#[derive(Clone, Debug)]
pub struct GroupVersion {
    /// The group.
    pub group: RuleGroupId,
    /// The version.
    pub id: GroupVersionId,
    /// The group's present name.
    pub name: String,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Rule>,
}

/// A version's rules; none if there is no such version.
pub async fn find_version(
    pool: &PgPool,
    version: GroupVersionId,
) -> Result<Option<GroupVersion>, Error> {
    let row = sqlx::query!(
        r#"
        select v.rule_group_id, g.name, v.rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where v.id = $1
        "#,
        version.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(row.map(|row| GroupVersion {
        group: row.rule_group_id.into(),
        id: version,
        name: row.name,
        rules: row.rules.0,
    }))
}

/// A version of a group; none if the group has no such version.
pub async fn version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<Option<Version>, Error> {
    let row = sqlx::query!(
        r#"
        select id, number, note, created_by, created_at, rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions
        where id = $1 and rule_group_id = $2
        "#,
        version.as_uuid(),
        group.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Version {
        listed: ListedVersion {
            id: row.id.into(),
            number: row.number,
            note: row.note,
            rules: i32::try_from(row.rules.len()).unwrap_or(i32::MAX),
            created_by: actor(row.created_by),
            created_at: row.created_at,
        },
        rules: row.rules.0,
    }))
}

/// A group's versions, the newest first.
pub async fn versions(
    conn: &mut PgConnection,
    group: RuleGroupId,
    page: Page,
) -> Result<Vec<ListedVersion>, Error> {
    let rows = sqlx::query!(
        r#"
        select id, number, note, json_array_length(rules) as "rules!", created_by, created_at
        from rule_group_versions
        where
            rule_group_id = $1
            and ($2::uuid is null or number < (select number from rule_group_versions where id = $2))
        order by number desc
        limit $3
        "#,
        group.as_uuid(),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    let listed = rows.into_iter().map(|row| ListedVersion {
        id: row.id.into(),
        number: row.number,
        note: row.note,
        rules: row.rules,
        created_by: actor(row.created_by),
        created_at: row.created_at,
    });
    Ok(listed.collect())
}
