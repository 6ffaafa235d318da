//! The role with which dashboards read the schema `ops`. The migration that creates it goes on without it if its own role may not
//! create roles.

use sqlx::PgConnection;

use crate::Error;

const ROLE: &str = "gatehouse_ops";

/// What an administrator has to run in this database if `gatehouse_ops` is missing or may not read the schema `ops`. `None`: nothing.
pub async fn missing_role(conn: &mut PgConnection) -> Result<Option<Vec<String>>, Error> {
    missing(conn, ROLE).await
}

async fn missing(conn: &mut PgConnection, role: &str) -> Result<Option<Vec<String>>, Error> {
    let (exists, reads): (bool, bool) = sqlx::query_as(
        "select exists (select from pg_roles where rolname = $1),
                coalesce((
                    select bool_and(has_schema_privilege(r.oid, n.oid, 'usage') and has_table_privilege(r.oid, c.oid, 'select'))
                    from pg_roles r
                    cross join pg_namespace n
                    join pg_class c on c.relnamespace = n.oid and c.relkind = 'v'
                    where r.rolname = $1 and n.nspname = 'ops'
                ), false)",
    )
    .bind(role)
    .fetch_one(conn)
    .await?;
    Ok(match (exists, reads) {
        (true, true) => None,
        (true, false) => Some(grants(role).to_vec()),
        (false, _) => Some([&creation(role)[..], &grants(role)].concat()),
    })
}

/// The same as in the migration `ops`.
fn creation(role: &str) -> [String; 4] {
    [
        format!("create role {role} nologin connection limit 5;"),
        format!("alter role {role} set default_transaction_read_only = on;"),
        format!("alter role {role} set statement_timeout = '5s';"),
        format!("alter role {role} set idle_in_transaction_session_timeout = '10s';"),
    ]
}

fn grants(role: &str) -> [String; 3] {
    [
        format!("grant usage on schema ops to {role};"),
        format!("grant select on all tables in schema ops to {role};"),
        format!("grant execute on function ops.without_values (text) to {role};"),
    ]
}

#[cfg(test)]
mod tests;
