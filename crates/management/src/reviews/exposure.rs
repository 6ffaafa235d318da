//! How much people have seen, by day.

use chrono::{DateTime, NaiveDate, Utc};
use domain::scope::Scope;
use store::review::exposure;
pub use store::review::exposure::Exposure;

use super::{quality::time_range, reviewer};
use crate::{Caller, Management, Refused};

/// At most so many rows are read.
const ROWS: usize = 10_000;

/// How much people have seen.
#[derive(Debug)]
pub struct Exposures {
    /// The first day.
    pub from: NaiveDate,
    /// The last day.
    pub to: NaiveDate,
    /// A row for each person and day, the latest day first.
    pub rows: Vec<Exposure>,
    /// Whether these are all rows of the span.
    pub is_complete: bool,
}

/// What people have decided and uncovered on the days of a span. Who leads reviews sees it of everybody in the team, anybody else
/// only of themselves.
///
/// # Errors
/// The caller may not read about reviews; the span is too long.
pub async fn exposures(
    management: &Management,
    caller: &Caller,
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
) -> Result<Exposures, Refused> {
    let (from, to) = time_range::of(from, to, Utc::now())?;
    let (from, to) = (from.date_naive(), to.date_naive());
    let mut session = management.read(caller, Scope::ReviewsRead).await?;
    let (actor, team) = reviewer(&session)?;
    let only = (!session.has(Scope::ReviewsManage)).then_some(actor);
    let most = i64::try_from(ROWS + 1).unwrap_or(i64::MAX);
    let mut rows = exposure::of_days(session.conn(), team, only, (from, to), most).await?;
    let is_complete = rows.len() <= ROWS;
    rows.truncate(ROWS);
    Ok(Exposures {
        from,
        to,
        rows,
        is_complete,
    })
}
