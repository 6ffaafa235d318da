//! Times as people read them: how long ago, and exactly in UTC.

use chrono::{DateTime, Datelike as _, NaiveDate, NaiveDateTime, TimeDelta, Utc};

/// The exact time, shown when the pointer is over the relative one.
pub(crate) fn exact(at: &DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The element of a page that shows a time.
pub(crate) fn element(at: &DateTime<Utc>) -> String {
    let machine = at.format("%Y-%m-%dT%H:%M:%SZ");
    let (exact, told) = (exact(at), told(*at, Utc::now()));
    format!(r#"<time datetime="{machine}" title="{exact}">{told}</time>"#)
}

/// A day as browsers send it. Years beyond 1 to 9999 are none, because Postgres does not know all of them.
pub(crate) fn day(typed: &str) -> Option<NaiveDate> {
    let day: NaiveDate = typed.parse().ok()?;
    (1..=9_999).contains(&day.year()).then_some(day)
}

/// A UTC time as browsers send it, in the same years.
pub(crate) fn moment(typed: &str) -> Option<DateTime<Utc>> {
    self::typed(typed).filter(|at| (1..=9_999).contains(&at.year()))
}

/// A UTC time as browsers send it, since 1970.
pub(crate) fn recent(typed: &str) -> Option<DateTime<Utc>> {
    self::typed(typed).filter(|at| (1970..=9_999).contains(&at.year()))
}

/// A UTC time as browsers send it. They omit the seconds if they are 0.
pub(crate) fn typed(text: &str) -> Option<DateTime<Utc>> {
    let mut forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"].into_iter();
    let time = forms.find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    time.map(|time| time.and_utc())
}

/// How long ago or in how long, to one unit; the day, if that is more than a month away.
pub(crate) fn told(at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let away = (now - at).abs();
    let units = [
        (away.num_days(), "d"),
        (away.num_hours(), "h"),
        (away.num_minutes(), "min"),
    ];
    match units.into_iter().find(|(count, _)| *count > 0) {
        Some((count, "d")) if count > 30 => at.format("%-d %b %Y").to_string(),
        Some((count, unit)) if at > now => format!("in {count} {unit}"),
        Some((count, unit)) => format!("{count} {unit} ago"),
        None if at > now + TimeDelta::seconds(5) => format!("in {} s", away.num_seconds()),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_postgres_does_not_know_are_none() {
        assert!(day("2030-12-31").is_some() && moment("2030-12-31T08:00").is_some());
        for year in ["+262142", "-4800", "0000", "10000"] {
            assert_eq!(day(&format!("{year}-12-31")), None);
            assert_eq!(moment(&format!("{year}-12-31T08:00")), None);
        }
    }

    #[test]
    fn a_moment_is_told_to_one_unit() {
        let now = Utc::now();
        let told = |ago| told(now - ago, now);
        assert_eq!(told(TimeDelta::seconds(59)), "just now");
        assert_eq!(told(TimeDelta::seconds(-5)), "just now");
        assert_eq!(told(TimeDelta::minutes(59)), "59 min ago");
        assert_eq!(told(TimeDelta::hours(23)), "23 h ago");
        assert_eq!(told(TimeDelta::days(30)), "30 d ago");
        assert!(!told(TimeDelta::days(31)).contains("ago"));
        assert_eq!(told(TimeDelta::seconds(-40)), "in 40 s");
        assert_eq!(told(TimeDelta::hours(-2)), "in 2 h");
    }
}
