//! Reports what fails again and again: a line when it begins, further lines at growing distance
//! with the number of failures so far, and a line when it is over.
//!
//! Whatever can fail many times in a row has one [`RepeatedFailure`]. It is asked at each failure and at
//! each success, and says whether there is something to log now. [`failed!`] and [`over!`] log it.
//!
//! ```
//! use telemetry::{RepeatedFailure, failed, over};
//!
//! static HEARTBEATS: RepeatedFailure = RepeatedFailure::in_turn();
//!
//! # fn send() -> Result<(), std::io::Error> { Ok(()) }
//! match send() {
//!     Ok(()) => over!(HEARTBEATS.worked(), "heartbeats arrive again"),
//!     Err(error) => failed!(HEARTBEATS.failed(), %error, "a heartbeat did not arrive"),
//! }
//! ```

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The time from the first line to the second one. Each further distance is twice as long.
pub const FIRST_DISTANCE: Duration = Duration::from_secs(30);
/// The longest time between two lines.
pub const LONGEST_DISTANCE: Duration = Duration::from_hours(1);
/// Of attempts that run at the same time, some succeed while others fail. It is over when none has
/// failed for this long.
pub const QUIET: Duration = Duration::from_secs(10);

/// Something that can fail many times in a row.
#[derive(Debug)]
pub struct RepeatedFailure {
    /// How long nothing may have failed until a success ends it.
    quiet: Duration,
    /// Whether there is a series. Most of the time there is none, and a success costs one reading.
    is_failing: AtomicBool,
    series: Mutex<Option<Series>>,
}

#[derive(Clone, Copy, Debug)]
struct Series {
    began: Instant,
    last: Instant,
    failures: u64,
    /// When the next line is due, and the distance to the line after it. `None`: there was no line
    /// yet.
    next: Option<(Instant, Duration)>,
}

/// A failure to log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing {
    failures: u64,
    lasted: Duration,
}

/// The end of a series that was logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// How many attempts failed.
    pub failures: u64,
    /// How long it lasted.
    pub lasted: Duration,
}

impl RepeatedFailure {
    /// For attempts one after the other: the first success ends a series.
    pub const fn in_turn() -> Self {
        Self::new(Duration::ZERO)
    }

    /// For attempts at the same time: a success ends a series if nothing has failed for [`QUIET`].
    pub const fn at_once() -> Self {
        Self::new(QUIET)
    }

    const fn new(quiet: Duration) -> Self {
        Self {
            quiet,
            is_failing: AtomicBool::new(false),
            series: Mutex::new(None),
        }
    }

    /// An attempt failed. Returns what to log now, if it is time to.
    pub fn failed(&self) -> Option<Failing> {
        self.failed_at(Instant::now(), Duration::ZERO)
    }

    /// The same, but nothing is logged unless attempts have failed for at least this long. For
    /// failures that somebody else is about to report.
    pub fn failed_for(&self, patience: Duration) -> Option<Failing> {
        self.failed_at(Instant::now(), patience)
    }

    fn failed_at(&self, now: Instant, patience: Duration) -> Option<Failing> {
        let mut series = self.lock();
        if series.is_some_and(|series| self.is_over(&series, now)) {
            // Nobody tried for so long. This is another series.
            *series = None;
        }
        self.is_failing.store(true, Ordering::Relaxed);
        let series = series.get_or_insert(Series {
            began: now,
            last: now,
            failures: 0,
            next: None,
        });
        series.failures += 1;
        series.last = now;
        let lasted = now.duration_since(series.began);
        let distance = match series.next {
            None if lasted >= patience => FIRST_DISTANCE,
            Some((due, distance)) if now >= due => distance,
            None | Some(_) => return None,
        };
        let further = (distance * 2).min(LONGEST_DISTANCE);
        series.next = Some((now + distance, further));
        Some(Failing {
            failures: series.failures,
            lasted,
        })
    }

    /// An attempt succeeded. Returns what to log if it ended a series that was logged.
    pub fn worked(&self) -> Option<Over> {
        if !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        self.worked_at(Instant::now())
    }

    fn worked_at(&self, now: Instant) -> Option<Over> {
        let mut held = self.lock();
        let series = (*held)?;
        if now.duration_since(series.last) < self.quiet {
            return None;
        }
        *held = None;
        self.is_failing.store(false, Ordering::Relaxed);
        series.next?;
        let end = if self.quiet.is_zero() {
            now
        } else {
            series.last
        };
        Some(Over {
            failures: series.failures,
            lasted: end.duration_since(series.began),
        })
    }

    /// Whether a series has ended although no success said so: of attempts at the same time, none
    /// was made for much longer than they are quiet.
    fn is_over(&self, series: &Series, now: Instant) -> bool {
        !self.quiet.is_zero() && now.duration_since(series.last) >= self.quiet * 6
    }

    fn lock(&self) -> MutexGuard<'_, Option<Series>> {
        self.series.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failing {
    /// How many attempts have failed. The first line does not say it.
    pub fn failures(&self) -> Option<u64> {
        (self.failures > 1).then_some(self.failures)
    }

    /// For how many seconds attempts have failed. The first line does not say it.
    pub fn seconds(&self) -> Option<u64> {
        (self.failures > 1).then_some(self.lasted.as_secs())
    }
}

impl Over {
    /// How long it lasted, in seconds and tenths of a second.
    pub fn seconds(&self) -> f64 {
        (self.lasted.as_secs_f64() * 10.0).round() / 10.0
    }
}

/// Logs a failure: as a warning if it is time for a line, and otherwise at DEBUG. The first
/// argument is what [`RepeatedFailure::failed`] returns, and the others are those of a line.
#[macro_export]
macro_rules! failed {
    ($failing:expr, $($line:tt)+) => {
        match $failing {
            Some(failing) => $crate::tracing::warn!(
                failures = failing.failures(),
                failing_for_seconds = failing.seconds(),
                $($line)+
            ),
            None => $crate::tracing::debug!($($line)+),
        }
    };
}

/// Logs the end of a series. The first argument is what [`RepeatedFailure::worked`] returns, and the
/// others are those of a line.
#[macro_export]
macro_rules! over {
    ($over:expr, $($line:tt)+) => {
        if let Some(over) = $over {
            $crate::tracing::info!(
                failures = over.failures,
                failed_for_seconds = over.seconds(),
                $($line)+
            );
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Fails every 200 ms for so long, as a heartbeat does. Returns the seconds of the lines.
    fn fails_for(repeated: &RepeatedFailure, from: Instant, lasting: Duration) -> Vec<u64> {
        let mut lines = Vec::new();
        let mut after = Duration::ZERO;
        while after < lasting {
            if let Some(failing) = repeated.failed_at(from + after, Duration::ZERO) {
                assert_eq!(failing.lasted, after);
                lines.push(after.as_secs());
            }
            after += Duration::from_millis(200);
        }
        lines
    }

    #[test]
    fn a_series_is_a_line_then_lines_at_growing_distance_then_its_end() {
        let repeated = RepeatedFailure::in_turn();
        let from = Instant::now();
        let lines = fails_for(&repeated, from, seconds(45));
        assert_eq!(lines, [0, 30]);
        let over = repeated.worked_at(from + seconds(45)).unwrap();
        assert_eq!((over.failures, over.lasted), (225, seconds(45)));
        assert_eq!(repeated.worked_at(from + seconds(46)), None);
    }

    #[test]
    fn a_day_of_failures_is_a_few_lines_an_hour_apart_at_most() {
        let repeated = RepeatedFailure::in_turn();
        let lines = fails_for(&repeated, Instant::now(), seconds(24 * 3_600));
        assert_eq!(lines[..6], [0, 30, 90, 210, 450, 930]);
        assert!(lines.len() < 32, "{}", lines.len());
        let distances = lines.windows(2).map(|two| two[1] - two[0]);
        assert_eq!(distances.max(), Some(3_600));
    }

    #[test]
    fn only_the_first_line_has_no_numbers() {
        let repeated = RepeatedFailure::in_turn();
        let from = Instant::now();
        let first = repeated.failed_at(from, Duration::ZERO).unwrap();
        assert_eq!((first.failures(), first.seconds()), (None, None));
        let second = repeated.failed_at(from + seconds(31), Duration::ZERO);
        let second = second.unwrap();
        assert_eq!((second.failures(), second.seconds()), (Some(2), Some(31)));
    }

    #[test]
    fn what_lasts_no_longer_than_somebodys_patience_is_not_logged_and_has_no_end() {
        let repeated = RepeatedFailure::in_turn();
        let from = Instant::now();
        for after in [0, 1, 4] {
            assert_eq!(repeated.failed_at(from + seconds(after), seconds(5)), None);
        }
        assert_eq!(repeated.worked_at(from + seconds(4)), None);
        // Another series begins.
        assert_eq!(repeated.failed_at(from + seconds(6), seconds(5)), None);
        let failing = repeated.failed_at(from + seconds(11), seconds(5));
        assert_eq!(failing.unwrap().failures(), Some(2));
        assert!(repeated.worked_at(from + seconds(12)).is_some());
    }

    #[test]
    fn of_attempts_at_the_same_time_the_end_is_when_none_fails_any_more() {
        let repeated = RepeatedFailure::at_once();
        let from = Instant::now();
        assert!(repeated.failed_at(from, Duration::ZERO).is_some());
        for after in 1..8 {
            assert_eq!(repeated.worked_at(from + seconds(after)), None);
            assert_eq!(
                repeated.failed_at(from + seconds(after), Duration::ZERO),
                None
            );
        }
        assert_eq!(repeated.worked_at(from + seconds(16)), None);
        let over = repeated.worked_at(from + seconds(17)).unwrap();
        assert_eq!((over.failures, over.lasted), (8, seconds(7)));
        // Without attempts, it ends by itself, and the next failure is a line.
        assert!(repeated.failed_at(from, Duration::ZERO).is_some());
        assert!(
            repeated
                .failed_at(from + seconds(60), Duration::ZERO)
                .is_some()
        );
    }
}
