//! Statistics: what happened at a site, in a team or in the whole installation.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use domain::{
    id::{RuleGroupId, SiteId},
    scope::Scope,
    statistics::Interval,
};
pub use store::statistics::{Bucket, Figures, GroupMatches, Outcomes, Report, RuleMatches};
use store::{
    rule_group,
    statistics::{self, Subject},
};

use crate::{Caller, Noun, Refused, Session, boxed};

/// What figures are wanted for.
#[derive(Clone, Copy, Debug)]
pub struct Query {
    /// Only this site. `None`: the caller's team; for operators, all teams.
    pub site: Option<SiteId>,
    /// The first hour or day is the one that contains this time. `None`: a day before `to` by hour,
    /// 30 days before it by day.
    pub from: Option<DateTime<Utc>>,
    /// The last hour or day is the one that contains the moment before this time. `None`: now.
    pub to: Option<DateTime<Utc>>,
    /// Figures for each hour or for each day.
    pub interval: Interval,
}

/// Figures, and the whole hours or days that they are for.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The beginning of the first hour or day.
    pub from: DateTime<Utc>,
    /// The end of the last hour or day.
    pub to: DateTime<Utc>,
    /// The figures.
    pub report: Report,
}

/// What happened.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; the span of time is too long.
#[boxed]
pub async fn get(caller: &Caller, query: Query) -> Result<Answer, Refused> {
    let (from, to) = query.span(Utc::now())?;
    let mut session = caller.read(Scope::MediaRead).await?;
    let subject = subject(&mut session, query.site).await?;
    let report = statistics::report(session.conn(), subject, from, to, query.interval).await?;
    Ok(Answer { from, to, report })
}

/// What happened, and the figures of a span of the same length before it.
///
/// # Errors
/// Those of [`get`].
#[boxed]
pub async fn get_with_before(
    caller: &Caller,
    query: Query,
) -> Result<(Answer, Vec<Bucket>), Refused> {
    let (from, to) = query.span(Utc::now())?;
    let mut session = caller.read(Scope::MediaRead).await?;
    let subject = subject(&mut session, query.site).await?;
    let conn = session.conn();
    let found = statistics::report_with_before(conn, subject, from, to, query.interval).await?;
    let (report, before) = found;
    Ok((Answer { from, to, report }, before))
}

/// What the caller can have figures of.
async fn subject(session: &mut Session, site: Option<SiteId>) -> Result<Subject, Refused> {
    Ok(match (site, session.only_team()) {
        (Some(site), _) => {
            session.require_site(site).await?;
            Subject::Site(site)
        }
        (None, Some(team)) => Subject::Team(team),
        (None, None) => Subject::Everything,
    })
}

/// How often the rules of a group matched in the last days (UTC), today included.
///
/// # Errors
/// The caller may not do it; there is no such group within reach.
#[boxed]
pub async fn of_group(
    caller: &Caller,
    group: RuleGroupId,
    days: u32,
) -> Result<GroupMatches, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let team = rule_group::team_of(session.conn(), group).await?;
    let team = team.filter(|team| session.reach().covers(*team));
    let team = team.ok_or(Refused::NotFound(Noun::RuleGroup))?;
    let since = Utc::now() - TimeDelta::days(i64::from(days) - 1);
    let found = statistics::of_group(session.conn(), team, group, since.date_naive()).await?;
    Ok(found)
}

impl Query {
    /// The beginning of the first hour or day, and the end of the last one.
    fn span(&self, now: DateTime<Utc>) -> Result<(DateTime<Utc>, DateTime<Utc>), Refused> {
        let (unit, most, usual) = match self.interval {
            Interval::Hour => (TimeDelta::hours(1), TimeDelta::days(31), TimeDelta::days(1)),
            Interval::Day => (
                TimeDelta::days(1),
                TimeDelta::days(statistics::DAYS.into()),
                TimeDelta::days(30),
            ),
        };
        let begins = |field, time: DateTime<Utc>| {
            let message = "must be a time between 1970 and 2200";
            let known = (0..YEAR_2200).contains(&time.timestamp());
            let rounded = time.duration_trunc(unit).ok().filter(|_| known);
            rounded.ok_or_else(|| Refused::field(field, message))
        };
        let until = self.to.unwrap_or(now);
        let mut to = begins("to", until)?;
        if to < until {
            to += unit;
        }
        let from = match self.from {
            Some(from) => begins("from", from)?,
            None => to - usual,
        };
        if from >= to {
            return Err(Refused::field("from", "must be before `to`"));
        }
        if to - from > most {
            let message = format!(
                "must be at most {} days before `to` with this `interval`",
                most.num_days()
            );
            return Err(Refused::field("from", message));
        }
        Ok((from, to))
    }
}

/// The beginning of the year 2200, in seconds since 1970.
const YEAR_2200: i64 = 7_258_118_400;

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn span(from: Option<&str>, to: Option<&str>, interval: Interval) -> Result<String, String> {
        let query = Query {
            site: None,
            from: from.map(time),
            to: to.map(time),
            interval,
        };
        match query.span(time("2026-03-10T12:34:56Z")) {
            Ok((from, to)) => Ok(format!("{} {}", from.format("%FT%R"), to.format("%FT%R"))),
            Err(Refused::Fields(fields)) => Err(fields.problems[0].field.clone()),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn spans_are_whole_hours_or_days_of_a_bounded_number() {
        use Interval::{Day, Hour};
        for (from, to, interval, expected) in [
            (None, None, Hour, Ok("2026-03-09T13:00 2026-03-10T13:00")),
            (None, None, Day, Ok("2026-02-09T00:00 2026-03-11T00:00")),
            (
                Some("2026-03-01T10:59:59Z"),
                Some("2026-03-01T11:00:00Z"),
                Hour,
                Ok("2026-03-01T10:00 2026-03-01T11:00"),
            ),
            (
                Some("2026-03-01T23:00:00+01:00"),
                Some("2026-03-02T00:00:01Z"),
                Day,
                Ok("2026-03-01T00:00 2026-03-03T00:00"),
            ),
            (
                Some("2026-03-01T00:00:00Z"),
                Some("2026-04-01T00:00:00Z"),
                Hour,
                Ok("2026-03-01T00:00 2026-04-01T00:00"),
            ),
            (
                Some("2026-03-01T00:00:00Z"),
                Some("2026-04-01T00:00:01Z"),
                Hour,
                Err("from"),
            ),
            (
                Some("2025-01-01T00:00:00Z"),
                Some("2026-02-05T00:00:00Z"),
                Day,
                Ok("2025-01-01T00:00 2026-02-05T00:00"),
            ),
            (
                Some("2025-01-01T00:00:00Z"),
                Some("2026-02-06T00:00:00Z"),
                Day,
                Err("from"),
            ),
            (Some("2026-03-11T00:00:00Z"), None, Day, Err("from")),
            (Some("1969-01-01T00:00:00Z"), None, Day, Err("from")),
            (None, Some("9999-12-31T23:59:59Z"), Hour, Err("to")),
            (None, Some("+262000-01-01T00:00:00Z"), Hour, Err("to")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(span(from, to, interval), expected, "{from:?} {to:?}");
        }
    }
}
