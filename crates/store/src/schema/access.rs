//! Whether the role may use a schema that another role has created. Postgres would only say which of its parts is refused.

use sqlx::PgConnection;

use super::unready::Unready;

/// Fails if the role may not read the lists of migrations.
pub(super) async fn require(conn: &mut PgConnection) -> Result<(), Unready> {
    let refused: Option<(String, String, bool)> = sqlx::query_as(
        "select quote_ident(current_user), quote_ident(o.rolname), o.rolsuper
         from pg_class c
             join pg_namespace n on n.oid = c.relnamespace
             join pg_roles o on o.oid = c.relowner
         where (n.nspname, c.relname) in (('queue', '_migrations'), (current_schema(), '_sqlx_migrations'))
           and not (has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select'))
         limit 1",
    )
    .fetch_optional(conn)
    .await?;
    let Some((role, owner, is_superuser)) = refused else {
        return Ok(());
    };
    // Members of a superuser's role can become superusers.
    let remedy = if is_superuser {
        format!("Use the role {owner}")
    } else {
        format!("Use the role {owner}, or run as an administrator: grant {owner} to {role};")
    };
    Err(Unready::Closed {
        role,
        owner,
        remedy,
    })
}
