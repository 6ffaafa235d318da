//! Deleting a list that no rule names.

use domain::{
    id::{HashListId, RuleGroupId, TeamId},
    reach::Reach,
};
use sqlx::PgConnection;

use super::{HashList, import, read::find, scan};
use crate::Error;

/// A list, locked so that nobody else changes it or names it in a rule until the transaction ends;
/// none if there is none within reach. With it, some of the groups whose live version, shadow or
/// draft names it.
pub async fn lock_to_delete(
    conn: &mut PgConnection,
    reach: Reach,
    list: HashListId,
) -> Result<Option<(HashList, Vec<RuleGroupId>)>, Error> {
    sqlx::query_scalar!(
        "select id from hash_lists where id = $1 and ($2::uuid is null or team_id = $2) for update",
        list.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(found) = find(conn, reach, list).await? else {
        return Ok(None);
    };
    let groups = sqlx::query_scalar!(
        r#"
        select id as "id!" from rule_groups where draft_hash_lists @> array[$1::uuid] and disabled_at is null
        union
        select g.id
        from rule_group_versions v
        join rule_groups g on g.id = v.rule_group_id and v.id in (g.live_version_id, g.shadow_version_id)
        where v.hash_lists @> array[$1::uuid] and g.disabled_at is null
        limit 10
        "#,
        list.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let groups = groups.into_iter().map(RuleGroupId::from).collect();
    Ok(Some((found, groups)))
}

/// Deletes a list, and stops its imports and scans. Its entries are removed later. Its matches
/// stay. Run it in a transaction that has locked the list with [`lock_to_delete`].
pub async fn delete(conn: &mut PgConnection, list: HashListId) -> Result<(), Error> {
    sqlx::query!(
        "update hash_lists set deleted_at = now(), entries = 0 where id = $1",
        list.as_uuid()
    )
    .execute(&mut *conn)
    .await?;
    import::cancel_all(conn, list).await?;
    scan::cancel_all(conn, list).await
}
