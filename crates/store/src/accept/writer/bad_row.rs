//! The answer to a row that Postgres does not accept.

use domain::id::TeamId;
use tracing::{debug, error};

use crate::{
    accept::Acceptance,
    bisect::{Pieces, Spoiled},
};

/// Splits what failed. Those that must not be tried again come back with their answer.
pub(crate) fn spoiled<T>(
    refused: &sqlx::Error,
    pieces: &mut Pieces<T, TeamId>,
    failed: Vec<T>,
) -> (Vec<T>, Acceptance) {
    database::count_error(refused);
    let error = database::error_message(refused);
    let rows = failed.len();
    match pieces.split(failed) {
        None => {
            debug!(%error, rows, "a row makes its batch fail; splitting the batch to find it");
            (Vec::new(), Acceptance::Untried)
        }
        Some(Spoiled::Row(row)) => {
            let answer = verdict_on(refused);
            error!(%error, "could not store a submission; it is answered with {answer:?}");
            (vec![row], answer)
        }
        Some(Spoiled::Rest(rest)) => {
            error!(%error, rows, "did not try some submissions one by one, because too many of their team failed");
            (rest, Acceptance::Untried)
        }
    }
}

/// The answer to a row on which Postgres fails even when it is alone. Bad values (class 22),
/// violated constraints (class 23) and values beyond a limit of Postgres (class 54) are the
/// submission's fault. Anything else is our fault.
fn verdict_on(error: &sqlx::Error) -> Acceptance {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    let is_of_values = code.is_some_and(|code| {
        ["22", "23", "54"]
            .iter()
            .any(|class| code.starts_with(class))
    });
    if is_of_values {
        Acceptance::Refused
    } else {
        Acceptance::Failed
    }
}
