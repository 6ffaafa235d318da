//! What `gatehouse check` notes: nothing of it keeps a process from working, so it does not change the exit code.

use store::{PgPool, database_metrics};

use super::super::migrate;
use crate::prometheus::database_metrics::hidden;

/// What somebody should know about the server and about the rights of the role there.
pub(super) async fn about(pool: &PgPool) -> anyhow::Result<Vec<String>> {
    let mut conn = database_metrics::connect(pool).await?;
    let sight = database_metrics::visibility(&mut conn).await?;
    let role = migrate::missing_role(pool).await?;
    let metrics = sight.blind().iter().map(hidden).collect::<Vec<_>>();
    // The DETAIL of an error about a row has the row's values.
    let texts = (sight.error_verbosity != "terse").then(|| {
        format!(
            "log_error_verbosity of this Postgres is `{}`: its log gets the rows that errors are about, with texts of items. As an \
             administrator, set `log_error_verbosity = terse` and `log_parameter_max_length_on_error = 0`",
            sight.error_verbosity
        )
    });
    Ok(role.into_iter().chain(metrics).chain(texts).collect())
}
