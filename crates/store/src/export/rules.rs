//! The rule groups of a team with the versions that can have judged items: those that were live at some time.

use chrono::{DateTime, Utc};
use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    rules::Rule,
};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::Error;

/// A group, with a list of the versions that judged or judge.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ExportedGroup {
    /// The group.
    pub id: RuleGroupId,
    /// Its name.
    pub name: String,
    /// Whether it was deleted.
    pub deleted: bool,
    /// The version that judges new submissions.
    pub live_version_id: GroupVersionId,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// The versions, the oldest first.
    pub versions: Vec<ListedVersion>,
}

/// A version without its rules.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ListedVersion {
    /// The version.
    pub id: GroupVersionId,
    /// Its number; a group's versions count from 1.
    pub number: i32,
    /// Its author's note.
    pub note: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// The team's next group after one, in the order of ids.
pub async fn next_group(
    conn: &mut PgConnection,
    team: TeamId,
    after: Uuid,
) -> Result<Option<ExportedGroup>, Error> {
    let group = sqlx::query!(
        r#"
        select id, name, disabled_at is not null as "deleted!", live_version_id, created_at
        from rule_groups
        where team_id = $1 and id > $2
        order by id
        limit 1
        "#,
        team.as_uuid(),
        after,
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(group) = group else { return Ok(None) };
    let versions = sqlx::query_as!(
        ListedVersion,
        "
        select v.id, v.number, v.note, v.created_at
        from rule_group_versions v
        where
            v.rule_group_id = $1
            and (
                v.kept or v.id = $2
                or exists (select from rule_group_publications p where p.version_id = v.id)
            )
        order by v.number
        ",
        group.id,
        group.live_version_id,
    )
    .fetch_all(conn)
    .await?;
    Ok(Some(ExportedGroup {
        id: group.id.into(),
        name: group.name,
        deleted: group.deleted,
        live_version_id: group.live_version_id.into(),
        created_at: group.created_at,
        versions,
    }))
}

/// The group's name, and the number and rules of its next such version after one with this number.
pub async fn next_version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    after: i32,
) -> Result<Option<(String, i32, Vec<Rule>)>, Error> {
    let row = sqlx::query!(
        r#"
        select g.name, v.number, v.rules as "rules: Json<Vec<Rule>>"
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id
        where
            v.rule_group_id = $1 and v.number > $2
            and (
                v.kept or v.id = g.live_version_id
                or exists (select from rule_group_publications p where p.version_id = v.id)
            )
        order by v.number
        limit 1
        "#,
        group.as_uuid(),
        after,
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (row.name, row.number, row.rules.0)))
}
