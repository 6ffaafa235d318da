//! The lines of a file that were refused.

use domain::id::HashImportId;
use sqlx::PgConnection;

use crate::Error;

/// A line that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its number, from 1.
    pub line: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// Refused lines after this one, in the order of the file.
pub async fn refusals(
    conn: &mut PgConnection,
    import: HashImportId,
    after: i64,
    limit: i64,
) -> Result<Vec<Refused>, Error> {
    let rows = sqlx::query_as!(
        Refused,
        "
        select line, reason
        from hash_import_refusals
        where import_id = $1 and line > $2
        order by line
        limit $3
        ",
        import.as_uuid(),
        after,
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// The most refused lines of a file that are listed.
pub const LISTED: i64 = 1_000;
