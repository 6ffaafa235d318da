//! Recording that a slice was done.

use domain::chain::State;
use sqlx::{AssertSqlSafe, PgConnection};
use uuid::Uuid;

use super::Chain;

/// What comes after a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Another slice.
    Open,
    /// Nothing: it was the last slice.
    Finished,
    /// Nothing, for this reason.
    Failed(&'static str),
}

impl End {
    /// After a slice that is the last one, or is not.
    pub(crate) const fn of(is_last: bool) -> Self {
        if is_last { Self::Finished } else { Self::Open }
    }
}

/// A slice, as far as its chain is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<Place> {
    /// Where the slice begins.
    pub(crate) from: Place,
    /// Where the next one begins.
    pub(crate) to: Place,
    pub(crate) end: End,
}

/// Records that a slice was done. False, and nothing is recorded, when the chain was stopped or is
/// not where the slice begins: then the slice must leave nothing behind. If the answer is true, the
/// row stays locked until the transaction ends.
pub(crate) async fn advance<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
    step: Step<C::Place>,
) -> Result<bool, sqlx::Error> {
    let (state, error) = match step.end {
        End::Open => (State::Running, None),
        End::Finished => (State::Finished, None),
        End::Failed(reason) => (State::Failed, Some(reason)),
    };
    let statement = format!(
        "update {table} set {place} = $3, state = $4, error = $5, ended_at = case when $4 <> 'running' then clock_timestamp() end
         where id = $1 and state = 'running' and {place} is not distinct from $2",
        table = C::TABLE,
        place = C::PLACE,
    );
    let advanced = sqlx::query(AssertSqlSafe(statement))
        .bind(row)
        .bind(step.from)
        .bind(step.to)
        .bind(state.as_str())
        .bind(error)
        .execute(&mut *conn)
        .await?;
    if advanced.rows_affected() == 0 {
        return Ok(false);
    }
    if matches!(step.end, End::Failed(_)) {
        C::ended(conn, row).await?;
    }
    Ok(true)
}
