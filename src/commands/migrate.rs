//! `gatehouse migrate`: upgrades the database to this binary's schema.

use store::{PgPool, schema};

use crate::{config::DatabaseOptions, logs, service, terminal};

/// Migrates, and says what is left to do for an administrator.
///
/// # Errors
/// The database cannot be used, belongs to others, or has a schema that is too new.
pub(super) async fn run(options: DatabaseOptions) -> anyhow::Result<()> {
    logs::start()?;
    super::warn_of_unknown_variables(None);
    let pool = service::open(&options.database()?, "gatehouse migrate").await?;
    let standing = schema::migrate(&pool).await?;
    terminal::print(&format!("the schema is {standing}\n"))?;
    if let Some(note) = missing_role(&pool).await? {
        terminal::print(&format!("note: {note}\n"))?;
    }
    Ok(())
}

/// What to do about the role of the dashboards, if it is missing. A role that may not create roles migrates without it.
pub(super) async fn missing_role(pool: &PgPool) -> anyhow::Result<Option<String>> {
    let mut conn = database::connect(pool).await?;
    let statements = schema::missing_role(&mut conn).await?;
    Ok(statements.map(|statements| {
        format!(
            "the role gatehouse_ops is missing, or may not read the schema `ops`. Only the dashboard of tenants needs it \
             (docs/dashboards.md). As an administrator, run in this database: {}",
            statements.join(" ")
        )
    }))
}
