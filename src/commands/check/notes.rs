//! What `gatehouse check` notes: nothing of it keeps a process from working, so it does not change the exit code.

use store::PgPool;

use super::super::migrate;

/// What somebody should know about the server and about the rights of the role there.
pub(super) async fn about(pool: &PgPool) -> anyhow::Result<Vec<String>> {
    let role = migrate::missing_role(pool).await?;
    Ok(role.into_iter().collect())
}
