//! A group's draft: what is edited, before it is published as a version. A group without edits
//! shows its live version as its draft.

use domain::{id::RuleGroupId, rules::Rule};
use sqlx::{PgConnection, types::Json};

use super::hash_lists;
use crate::Error;

/// A draft.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Its rules.
    pub rules: Vec<Rule>,
    /// Counts the changes of what the draft shows.
    pub revision: i64,
    /// Whether it differs from the live version.
    pub edited: bool,
}

/// A group's draft; none if there is no such group.
pub async fn draft(conn: &mut PgConnection, group: RuleGroupId) -> Result<Option<Draft>, Error> {
    let row = sqlx::query!(
        r#"
        select
            coalesce(g.draft, v.rules) as "rules!: Json<Vec<Rule>>",
            g.draft_revision,
            g.draft is not null as "edited!"
        from rule_groups g
        join rule_group_versions v on v.id = g.live_version_id
        where g.id = $1
        "#,
        group.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| Draft {
        rules: row.rules.0,
        revision: row.draft_revision,
        edited: row.edited,
    }))
}

/// Replaces a group's draft, or, with none, goes back to its live version. Returns its new
/// revision. Run it in a transaction that has locked the group.
pub async fn edit(
    conn: &mut PgConnection,
    group: RuleGroupId,
    rules: Option<&[Rule]>,
) -> Result<i64, Error> {
    let revision = sqlx::query_scalar!(
        "
        update rule_groups
        set draft = $2, draft_hash_lists = $3, draft_revision = draft_revision + 1
        where id = $1
        returning draft_revision
        ",
        group.as_uuid(),
        rules.map(Json) as _,
        &hash_lists(rules.unwrap_or_default()),
    )
    .fetch_one(conn)
    .await?;
    Ok(revision)
}
