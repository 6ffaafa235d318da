//! What is at fault when a statement fails: its data, which is then isolated, or the database,
//! which is then waited for. Only this module judges SQLSTATEs in this way. The service's own
//! batches use it, too.

use sqlx::Error;

/// What is at fault for a failed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The data, an effect or a row: it fails whenever it is tried.
    Effect,
    /// The database or the way to it: the same transaction will succeed when they work again.
    System,
    /// The statement itself: it names something that does not exist or that this role may not
    /// touch. It fails with any data.
    Statement,
    /// Unknown: a statement that took too long, a lock that was not available, a plan that a
    /// migration made outdated. Try again a few times, then blame the data.
    Unclear,
}

impl Fault {
    /// Judges a failed statement.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Database(database) => database
                .code()
                .map_or(Self::System, |code| Self::of_state(&code)),
            Error::Io(_)
            | Error::Tls(_)
            | Error::Protocol(_)
            | Error::PoolTimedOut
            | Error::PoolClosed
            | Error::WorkerCrashed
            | Error::BeginFailed
            | Error::Configuration(_) => Self::System,
            // The rest concerns the values or the text of a statement. sqlx may add more kinds.
            _ => Self::Effect,
        }
    }

    /// Judges an SQLSTATE, <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
    fn of_state(code: &str) -> Self {
        match (code, code.get(..2).unwrap_or_default()) {
            // A statement timeout or a lock timeout. 0A000 can be "cached plan must not change
            // result type" or a feature that is really not supported.
            ("57014" | "55P03" | "0A000", _) => Self::Unclear,
            // Connection, invalid transaction state (a server turned read-only), lost prepared
            // statements, authorization, unknown database, rollback (deadlock, serialization),
            // resources (disk, memory, connections), state (a database that accepts no
            // connections), operator (shutdown), system, configuration.
            (_, "08" | "25" | "26" | "28" | "3D" | "40" | "53" | "55" | "57" | "58" | "F0") => {
                Self::System
            }
            (_, "42") => Self::Statement,
            // Includes 54, a value that is too complex or too large for an index, and XX,
            // Postgres's "this cannot happen": one row may cause it each time, and halving tries
            // the others again.
            _ => Self::Effect,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn states_are_told_apart() {
        for (code, fault) in [
            ("23505", Fault::Effect),
            ("22003", Fault::Effect),
            ("42703", Fault::Statement),
            ("P0001", Fault::Effect),
            ("54001", Fault::Effect),
            ("54000", Fault::Effect),
            ("XX000", Fault::Effect),
            ("57014", Fault::Unclear),
            ("55P03", Fault::Unclear),
            ("55000", Fault::System),
            ("57P01", Fault::System),
            ("40P01", Fault::System),
            ("40001", Fault::System),
            ("53300", Fault::System),
            ("53100", Fault::System),
            ("25006", Fault::System),
            ("25P03", Fault::System),
        ] {
            assert_eq!(Fault::of_state(code), fault, "{code}");
        }
        assert_eq!(Fault::of(&Error::PoolTimedOut), Fault::System);
        assert_eq!(
            Fault::of(&database::deadline_exceeded(Duration::ZERO)),
            Fault::System
        );
        assert_eq!(Fault::of(&Error::RowNotFound), Fault::Effect);
    }
}
