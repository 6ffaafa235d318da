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
pub(crate) struct Step {
    /// The slice begins after this item; none: with the first.
    pub(crate) from: Option<Uuid>,
    /// The last item of the slice.
    pub(crate) to: Option<Uuid>,
    pub(crate) end: End,
}

/// Records that a slice was done. False, and nothing is recorded, when the chain was stopped or is
/// not where the slice begins: then the slice must leave nothing behind. If the answer is true, the
/// row stays locked until the transaction ends.
pub(crate) async fn advance<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
    step: Step,
) -> Result<bool, sqlx::Error> {
    let (state, error) = match step.end {
        End::Open => (State::Running, None),
        End::Finished => (State::Finished, None),
        End::Failed(reason) => (State::Failed, Some(reason)),
    };
    let statement = format!(
        "update {} set walked_to = $3, state = $4, error = $5, ended_at = case when $4 <> 'running' then clock_timestamp() end
         where id = $1 and state = 'running' and walked_to is not distinct from $2",
        C::TABLE
    );
    let advanced = sqlx::query(AssertSqlSafe(statement))
        .bind(row)
        .bind(step.from)
        .bind(step.to)
        .bind(state.as_str())
        .bind(error)
        .execute(conn)
        .await?;
    Ok(advanced.rows_affected() > 0)
}
