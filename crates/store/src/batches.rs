//! Large changes in batches of rows, so that no statement holds its locks for long.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// Rows of one batch, unless a statement has a reason for another number.
pub(crate) const ROWS: i64 = 5_000;

/// How fast batches follow each other.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// One after the other, because somebody waits for the end.
    Hurried,
    /// With pauses, because nobody waits for the end, and others need the database.
    Gentle,
}

impl Pace {
    /// A pause is so many times as long as the batch before it. So gentle work takes half the time
    /// of one connection, and less of a database that is slow.
    const PAUSES: u32 = 1;

    /// The pause after a batch that took so long.
    const fn pause_after(self, batch: Duration) -> Duration {
        match self {
            Self::Hurried => Duration::ZERO,
            Self::Gentle => batch.saturating_mul(Self::PAUSES),
        }
    }

    /// Pauses after a batch that began at this time.
    pub(crate) async fn pause(self, begun: Instant) {
        let pause = self.pause_after(begun.elapsed());
        if !pause.is_zero() {
            sleep(pause).await;
        }
    }
}

/// Runs a batch again and again until it changes no row, and returns how many rows all batches
/// changed. Several processes may do the same at the same time if the statement skips locked rows.
pub(crate) async fn until_none<B, E>(pace: Pace, mut batch: impl FnMut() -> B) -> Result<u64, E>
where
    B: Future<Output = Result<u64, E>>,
{
    let mut changed = 0;
    loop {
        let begun = Instant::now();
        match batch().await? {
            0 => return Ok(changed),
            rows => changed += rows,
        }
        pace.pause(begun).await;
    }
}

/// What one sweep has forgotten.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// How many things are gone.
    pub removed: u64,
    /// Whether the sweep ended at a bound of its work, so that another one may find more.
    pub has_more: bool,
}

impl std::ops::AddAssign for Forgotten {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.has_more |= other.has_more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: Duration = Duration::from_millis(10);

    #[test]
    fn a_gentle_pause_is_as_long_as_its_batch() {
        assert_eq!(Pace::Gentle.pause_after(BATCH), BATCH);
        assert_eq!(Pace::Hurried.pause_after(BATCH), Duration::ZERO);
    }

    #[tokio::test]
    async fn gentle_batches_pause_until_there_is_nothing_left() {
        let mut left = [5, 5, 2, 0].into_iter();
        let begun = Instant::now();
        let changed = until_none(Pace::Gentle, || {
            let rows = left.next().unwrap();
            async move {
                sleep(BATCH).await;
                Ok::<_, ()>(rows)
            }
        });
        assert_eq!(changed.await, Ok(12));
        // Four batches, and three pauses.
        assert!(begun.elapsed() >= BATCH * 7);
    }
}
