//! Removing a version, unless something has begun to refer to it.

use sqlx::PgConnection;

use super::Old;

/// Publishing a version or making it a shadow holds this lock. Then the version is looked at
/// another time.
pub(super) async fn lock_group(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let locked = sqlx::query_scalar!(
        "select id from rule_groups where id = $1 for no key update skip locked",
        old.group
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Removes it with its place in the group's history, unless something has begun to refer to it.
pub(super) async fn remove(conn: &mut PgConnection, old: &Old) -> Result<bool, sqlx::Error> {
    let is_free = sqlx::query_scalar!(
        r#"
        select
            g.live_version_id <> $2 and g.shadow_version_id is distinct from $2
            and not exists (select from backtests b where b.version_id = $2)
            and not exists (
                select from rule_group_publications p
                where p.version_id = $2 and ($3::timestamptz is null or p.published_at >= $3)
            ) as "is_free!"
        from rule_groups g
        where g.id = $1
        "#,
        old.group,
        old.id,
        old.until,
    )
    .fetch_one(&mut *conn)
    .await?;
    if !is_free {
        return Ok(false);
    }
    sqlx::query!(
        "
        with
        publications as (delete from rule_group_publications where version_id = $1),
        counts as (delete from shadow_counts where version_id = $1),
        differences as (delete from shadow_differences where version_id = $1)
        delete from rule_group_versions where id = $1
        ",
        old.id,
    )
    .execute(conn)
    .await?;
    Ok(true)
}
