//! The error when one of our own deadlines has passed. sqlx's `PoolTimedOut` is something else: no
//! connection was free.

use std::{io, time::Duration};

/// The database did not answer within this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {0:?}")]
pub struct DeadlineExceeded(pub Duration);

impl From<DeadlineExceeded> for sqlx::Error {
    /// This is an error of the connection, so that it is handled like a lost connection.
    fn from(deadline_exceeded: DeadlineExceeded) -> Self {
        Self::Io(io::Error::new(io::ErrorKind::TimedOut, deadline_exceeded))
    }
}

/// The error of a statement that had no answer within this time.
pub fn deadline_exceeded(patience: Duration) -> sqlx::Error {
    DeadlineExceeded(patience).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passed_deadline_says_so_and_blames_no_pool() {
        let error = deadline_exceeded(Duration::from_millis(1500));
        let text = error.to_string();
        assert!(text.contains("no answer within 1.5s"), "{text}");
        assert!(!text.contains("pool"), "{text}");
    }

    #[test]
    fn a_passed_deadline_can_be_told_from_a_lost_connection() {
        let is_late = |error: &sqlx::Error| match error {
            sqlx::Error::Io(error) => {
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
                inner.is_some_and(|DeadlineExceeded(_)| true)
            }
            _ => false,
        };
        assert!(is_late(&deadline_exceeded(Duration::from_secs(5))));
        let lost = sqlx::Error::from(io::Error::from(io::ErrorKind::ConnectionReset));
        assert!(!is_late(&lost));
    }
}
