//! The revision of a list, and how many entries it has.

use domain::id::HashListId;
use sqlx::PgConnection;

/// Raises the revision of a list, which locks it until the transaction ends; none if it was
/// deleted.
pub(crate) async fn raise(
    conn: &mut PgConnection,
    list: HashListId,
) -> Result<Option<Raised>, sqlx::Error> {
    sqlx::query_as!(
        Raised,
        r#"
        update hash_lists l
        set revision = l.revision + 1
        where l.id = $1 and l.deleted_at is null
        returning l.revision, (
            select sum(o.entries)::bigint
            from hash_lists o
            where o.team_id is not distinct from l.team_id and o.deleted_at is null
        ) as "entries!"
        "#,
        list.as_uuid(),
    )
    .fetch_optional(conn)
    .await
}

/// A list whose revision was raised.
pub(crate) struct Raised {
    /// The new revision.
    pub(crate) revision: i64,
    /// How many entries it has, together with the team's other lists.
    pub(crate) entries: i64,
}

/// Adds to the number of a list's entries.
pub(crate) async fn count(
    conn: &mut PgConnection,
    list: HashListId,
    more: i64,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update hash_lists set entries = entries + $2 where id = $1",
        list.as_uuid(),
        more
    )
    .execute(conn)
    .await?;
    Ok(())
}
