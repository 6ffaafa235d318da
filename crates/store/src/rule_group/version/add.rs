//! Adding a version to a group. It is not live.

use domain::id::{GroupVersionId, RuleGroupId};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{Authorship, NewVersion};
use crate::{Error, rule_group::hash_lists};

/// Adds the next version to a group; it is not live. Run it in a transaction that has locked the
/// group.
pub async fn add_version(
    conn: &mut PgConnection,
    group: RuleGroupId,
    new: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<GroupVersionId, Error> {
    let id = GroupVersionId::from(Uuid::now_v7());
    insert(conn, id, group, new, authorship).await?;
    Ok(id)
}

pub(crate) async fn insert(
    conn: &mut PgConnection,
    id: GroupVersionId,
    group: RuleGroupId,
    new: NewVersion<'_>,
    authorship: Authorship<'_>,
) -> Result<(), sqlx::Error> {
    let categories: Vec<&str> = new.categories.iter().map(|c| c.as_str()).collect();
    sqlx::query!(
        "
        insert into rule_group_versions
            (id, rule_group_id, number, rules, categories, uses_ai, note, created_by, hash_lists, created_at)
        select
            $1, $2, coalesce(max(number), 0) + 1, $3, $4, cardinality($4::text []) > 0, $5, $6, $7, clock_timestamp()
        from rule_group_versions
        where rule_group_id = $2
        ",
        id.as_uuid(),
        group.as_uuid(),
        Json(new.rules) as _,
        &categories as &[&str],
        authorship.note,
        authorship.by.as_uuid(),
        &hash_lists(new.rules),
    )
    .execute(conn)
    .await?;
    Ok(())
}
