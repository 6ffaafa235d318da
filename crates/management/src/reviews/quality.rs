//! The reports of the desk: what waits, how fast and how well people decide, and how the machine compares with them.
//!
//! Everything is read in one transaction, of the caller's team only, and at most [`OPINIONS`] and [`ITEMS`]. The arithmetic is
//! in `domain`.

mod csv;
mod dimensions;
mod machine_agreement;
mod opinion_counts;

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{ReviewPolicyId, SiteId},
    scope::Scope,
};
use store::review::quality::{self as read, Span};

use self::dimensions::Names;
use super::team;
use crate::{Caller, Refused, boxed};

pub use self::{
    csv::csv,
    dimensions::{ByPolicy, Named, NamedPolicy},
    machine_agreement::{Curve, Machine, MatchedRule, RuleCurves},
    opinion_counts::{Agreement, OpinionCounts, Overturned, Person, Speed},
};

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
#[boxed]
pub async fn quality(caller: &Caller, query: Query) -> Result<Quality, Refused> {
    let (from, to) = time_range(query.from, query.to, Utc::now())?;
    let mut session = caller.read(Scope::ReviewsManage).await?;
    let team = team(&session)?;
    if let Some(site) = query.site {
        session.require_site(site).await?;
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
    caller
        .management
        .trial_pool
        .work(Some(team), calculating)
        .await
}

/// One more than a bound, so that it shows whether there are more.
fn more_than(bound: usize) -> i64 {
    i64::try_from(bound + 1).unwrap_or(i64::MAX)
}

/// The longest span, and the usual one, in days.
const MOST: i64 = 92;
const USUAL: i64 = 30;

/// The beginning of the year 2200, in seconds since 1970.
const YEAR_2200: i64 = 7_258_118_400;

/// The beginning and the end.
pub(super) fn time_range(
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<(DateTime<Utc>, DateTime<Utc>), Refused> {
    let known = |field, time: DateTime<Utc>| {
        let is_known = (0..YEAR_2200).contains(&time.timestamp());
        let unknown = || Refused::field(field, "must be a time between 1970 and 2200");
        is_known.then_some(time).ok_or_else(unknown)
    };
    let to = known("to", to.unwrap_or(now))?;
    let from = known("from", from.unwrap_or(to - TimeDelta::days(USUAL)))?;
    if from >= to {
        return Err(Refused::field("from", "must be before `to`"));
    }
    if to - from > TimeDelta::days(MOST) {
        let message = format!("must be at most {MOST} days before `to`");
        return Err(Refused::field("from", message));
    }
    Ok((from, to))
}

/// What waits, by site and by policy.
#[derive(Debug)]
pub struct Waiting {
    /// By site.
    pub by_site: Vec<(Named<SiteId>, Backlog)>,
    /// By the most severe policy that is suggested.
    pub by_policy: Vec<ByPolicy<Backlog>>,
    /// Whether all that waits was counted.
    pub is_complete: bool,
}

/// Reviews that wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// How many there are.
    pub reviews: i64,
    /// How many of them should have been decided by now.
    pub overdue: i64,
    /// Since when the first of them has waited.
    pub oldest: DateTime<Utc>,
}

impl Backlog {
    fn add(&mut self, other: Self) {
        self.reviews += other.reviews;
        self.overdue += other.overdue;
        self.oldest = self.oldest.min(other.oldest);
    }
}

impl Waiting {
    fn of(parts: &[read::Backlog], names: &Names, most: i64) -> Self {
        let mut sites: BTreeMap<SiteId, Backlog> = BTreeMap::new();
        let mut policies: BTreeMap<Option<ReviewPolicyId>, Backlog> = BTreeMap::new();
        let mut total = 0;
        for part in parts {
            let backlog = Backlog {
                reviews: part.reviews,
                overdue: part.overdue,
                oldest: part.oldest,
            };
            total += part.reviews;
            let add = |known: &mut Backlog| known.add(backlog);
            sites.entry(part.site).and_modify(add).or_insert(backlog);
            let add = |known: &mut Backlog| known.add(backlog);
            let policy = policies.entry(part.suggested);
            policy.and_modify(add).or_insert(backlog);
        }
        Self {
            by_site: sites
                .into_iter()
                .map(|(site, backlog)| (names.site(site), backlog))
                .collect(),
            by_policy: names.by_policy(policies),
            is_complete: total < most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: Option<&str>, to: Option<&str>) -> Result<String, String> {
        let time = |text: &str| text.parse().unwrap();
        let now = time("2026-03-31T12:34:56Z");
        match time_range(from.map(time), to.map(time), now) {
            Ok((from, to)) => Ok(format!("{} {}", from.format("%FT%R"), to.format("%FT%R"))),
            Err(Refused::Fields(fields)) => Err(fields.problems[0].field.clone()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn spans_are_bounded_and_the_last_30_days_by_default() {
        for (from, to, expected) in [
            (None, None, Ok("2026-03-01T12:34 2026-03-31T12:34")),
            (
                None,
                Some("2026-03-31T00:00:00Z"),
                Ok("2026-03-01T00:00 2026-03-31T00:00"),
            ),
            (
                Some("2026-01-01T00:00:00Z"),
                Some("2026-04-03T00:00:00Z"),
                Ok("2026-01-01T00:00 2026-04-03T00:00"),
            ),
            (
                Some("2026-01-01T00:00:00Z"),
                Some("2026-04-03T00:00:01Z"),
                Err("from"),
            ),
            (Some("2026-03-31T12:34:56Z"), None, Err("from")),
            (Some("1969-01-01T00:00:00Z"), None, Err("from")),
            (None, Some("9999-12-31T23:59:59Z"), Err("to")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(span(from, to), expected, "{from:?} {to:?}");
        }
    }
}
