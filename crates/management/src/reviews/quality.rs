//! The reports of the desk: what waits, how fast and how well people decide, and how the machine compares with them.
//!
//! Everything is read in one transaction, of the caller's team only, and at most [`OPINIONS`] and [`ITEMS`]. The arithmetic is
//! in `domain`.

mod csv;
mod dimensions;
mod machine_agreement;
mod opinion_counts;
pub(super) mod time_range;
mod waiting;

use chrono::{DateTime, Utc};
use domain::{id::SiteId, scope::Scope};
use store::review::quality::{self as read, Span};

pub use self::{
    csv::csv,
    dimensions::{ByPolicy, Named, NamedPolicy},
    machine_agreement::{Curve, Machine, MatchedRule, RuleCurves},
    opinion_counts::{Agreement, OpinionCounts, Overturned, Person, Speed},
    waiting::{Backlog, Waiting},
};
use super::team;
use crate::{Caller, Management, Refused, sites};

/// At most so many opinions are counted, the latest.
pub const OPINIONS: usize = 50_000;

/// At most so many items are compared with what the machine had found, the latest that people decided.
pub const ITEMS: usize = 10_000;

/// At most so many reviews that wait are counted, the most urgent.
const WAITING: i64 = 100_000;

/// At most so many rules with thresholds are compared, and so many rules that matched.
const RULES: i64 = 100;

/// What is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query {
    /// Only this site. `None`: the caller's team.
    pub site: Option<SiteId>,
    /// From this time on. `None`: 30 days before `to`.
    pub from: Option<DateTime<Utc>>,
    /// Before this time. `None`: now.
    pub to: Option<DateTime<Utc>>,
}

/// The reports.
#[derive(Debug)]
pub struct Quality {
    /// Only this site.
    pub site: Option<SiteId>,
    /// From this time on.
    pub from: DateTime<Utc>,
    /// Before this time.
    pub to: DateTime<Utc>,
    /// How many opinions were counted.
    pub counted: usize,
    /// Whether these are all of the span.
    pub is_complete: bool,
    /// What waits now.
    pub waiting: Waiting,
    /// What people said.
    pub tally: OpinionCounts,
    /// How the machine compares with people.
    pub machine: Machine,
}

/// The reports of a span of time.
///
/// # Errors
/// The caller does not lead reviews; there is no such site within reach; the span is too long.
pub async fn quality(
    management: &Management,
    caller: &Caller,
    query: Query,
) -> Result<Quality, Refused> {
    let (from, to) = time_range::of(query.from, query.to, Utc::now())?;
    let mut session = management.read(caller, Scope::ReviewsManage).await?;
    let team = team(&session)?;
    if let Some(site) = query.site {
        sites::require(&mut session, site).await?;
    }
    let span = Span {
        team,
        site: query.site,
        from,
        to,
    };
    let conn = session.conn();
    let backlog = read::backlog(conn, team, query.site, WAITING).await?;
    let mut said = read::opinions(conn, span, more_than(OPINIONS)).await?;
    let is_complete = said.len() <= OPINIONS;
    said.truncate(OPINIONS);
    let rules = read::thresholds(conn, team, RULES + 1).await?;
    let left_out = read::left_out(conn, team).await?;
    let items = read::compared(conn, span, more_than(ITEMS)).await?;
    let matches = read::matches(conn, span, more_than(ITEMS) - 1, RULES).await?;
    let names = dimensions::Names::of(conn, team, &backlog, &said).await?;
    session.end();
    let calculating = move || Quality {
        site: query.site,
        from,
        to,
        counted: said.len(),
        is_complete,
        waiting: Waiting::of(&backlog, &names, WAITING),
        tally: OpinionCounts::of(&said, &names),
        machine: Machine::of(items, rules, left_out, matches),
    };
    management.trial_pool.work(Some(team), calculating).await
}

/// One more than a bound, so that it shows whether there are more.
fn more_than(bound: usize) -> i64 {
    i64::try_from(bound + 1).unwrap_or(i64::MAX)
}
