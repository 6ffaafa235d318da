//! The time range that the overview shows, and its steps.

use chrono::{DateTime, DurationRound as _, TimeDelta, Utc};
use management::statistics::{Bucket, Figures};

/// How far back the figures go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeRange {
    Day,
    Week,
    Month,
}

impl TimeRange {
    pub(super) const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// The time range that the address names; a day, if it names none.
    pub(super) fn named(text: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|span| span.value() == text).unwrap_or(Self::Day)
    }

    /// Its name in the address.
    pub(super) const fn value(self) -> &'static str {
        match self {
            Self::Day => "24h",
            Self::Week => "7d",
            Self::Month => "30d",
        }
    }

    /// What people read.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Month => "30 days",
        }
    }

    /// What people read where it is short.
    pub(super) const fn short_name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "30 days",
        }
    }

    /// What people read of a step, if it is not a whole day.
    pub(super) const fn step_name(self) -> Option<&'static str> {
        match self {
            Self::Day => Some("hour"),
            Self::Week => Some("six hours"),
            Self::Month => None,
        }
    }

    const fn length(self) -> TimeDelta {
        match self {
            Self::Day => TimeDelta::days(1),
            Self::Week => TimeDelta::days(7),
            Self::Month => TimeDelta::days(30),
        }
    }

    /// A long range has long steps, so that a chart has 24 to 30 bars.
    const fn step(self) -> TimeDelta {
        match self {
            Self::Day => TimeDelta::hours(1),
            Self::Week => TimeDelta::hours(6),
            Self::Month => TimeDelta::days(1),
        }
    }

    /// The window that ends with the step that contains this moment.
    pub(super) fn window(self, now: DateTime<Utc>) -> Window {
        let begun = now.duration_trunc(self.step()).unwrap_or(now);
        let to = if begun < now {
            begun + self.step()
        } else {
            begun
        };
        Window {
            span: self,
            from: to - self.length(),
            to,
        }
    }
}

/// A time range with a beginning and an end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) span: TimeRange,
    pub(super) from: DateTime<Utc>,
    pub(super) to: DateTime<Utc>,
}

impl Window {
    /// When its steps begin.
    pub(super) fn starts(self) -> Vec<DateTime<Utc>> {
        let mut starts = Vec::new();
        let mut start = self.from;
        while start < self.to {
            starts.push(start);
            start += self.span.step();
        }
        starts
    }

    /// The sums of hours, one for each step.
    pub(super) fn steps(self, hours: &[Bucket]) -> Vec<Figures> {
        let mut steps = vec![Figures::default(); self.starts().len()];
        let length = self.span.step().num_seconds();
        for hour in hours {
            let place = (hour.start - self.from).num_seconds().div_euclid(length);
            let step = usize::try_from(place).ok();
            if let Some(step) = step.and_then(|step| steps.get_mut(step)) {
                *step += hour.figures;
            }
        }
        steps
    }

    /// The sums of the hours that had ended when everything before this moment was counted, and of the same hours of the
    /// window before: an hour that has only begun cannot be compared with a whole one.
    pub(super) fn compared(
        self,
        hours: &[Bucket],
        hours_before: &[Bucket],
        counted: DateTime<Utc>,
    ) -> (Figures, Figures) {
        let until = counted
            .duration_trunc(TimeDelta::hours(1))
            .unwrap_or(counted);
        let sum = |hours: &[Bucket], until| {
            let mut sum = Figures::default();
            for hour in hours.iter().filter(|hour| hour.start < until) {
                sum += hour.figures;
            }
            sum
        };
        let length = self.span.length();
        (sum(hours, until), sum(hours_before, until - length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn hour(start: &str, accepted: i64) -> Bucket {
        Bucket {
            start: time(start),
            figures: Figures {
                accepted,
                ..Figures::default()
            },
        }
    }

    #[test]
    fn a_window_ends_with_the_present_step_and_has_few_of_them() {
        let now = time("2026-03-10T12:34:56Z");
        for (span, from, to, steps) in [
            (
                TimeRange::Day,
                "2026-03-09T13:00:00Z",
                "2026-03-10T13:00:00Z",
                24,
            ),
            (
                TimeRange::Week,
                "2026-03-03T18:00:00Z",
                "2026-03-10T18:00:00Z",
                28,
            ),
            (
                TimeRange::Month,
                "2026-02-09T00:00:00Z",
                "2026-03-11T00:00:00Z",
                30,
            ),
        ] {
            let window = span.window(now);
            assert_eq!((window.from, window.to), (time(from), time(to)), "{span:?}");
            assert_eq!(window.starts().len(), steps, "{span:?}");
        }
        let whole = TimeRange::Day.window(time("2026-03-10T12:00:00Z"));
        assert_eq!(whole.to, time("2026-03-10T12:00:00Z"));
    }

    #[test]
    fn hours_are_added_up_to_steps() {
        let window = TimeRange::Week.window(time("2026-03-10T12:34:56Z"));
        let hours = [
            hour("2026-03-03T17:00:00Z", 1000),
            hour("2026-03-03T18:00:00Z", 1),
            hour("2026-03-03T23:00:00Z", 2),
            hour("2026-03-04T00:00:00Z", 4),
            hour("2026-03-10T17:00:00Z", 8),
            hour("2026-03-10T18:00:00Z", 1000),
        ];
        let steps = window.steps(&hours);
        let accepted: Vec<_> = steps.iter().map(|step| step.accepted).collect();
        assert_eq!((accepted[0], accepted[1], accepted[27]), (3, 4, 8));
        assert_eq!(accepted.iter().sum::<i64>(), 15);
    }

    #[test]
    fn only_whole_hours_are_compared() {
        let window = TimeRange::Day.window(time("2026-03-10T12:34:56Z"));
        let now = [
            hour("2026-03-10T11:00:00Z", 10),
            hour("2026-03-10T12:00:00Z", 1),
        ];
        let before = [
            hour("2026-03-09T11:00:00Z", 8),
            hour("2026-03-09T12:00:00Z", 90),
        ];
        let (now, before) = window.compared(&now, &before, time("2026-03-10T12:33:00Z"));
        assert_eq!((now.accepted, before.accepted), (10, 8));
    }
}
