//! How much people have seen, in answers.

use management::reviews::{Exposure, Exposures};
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// How much people have seen.
#[derive(Serialize, Object)]
pub(crate) struct ReviewExposure {
    /// The first day, in UTC.
    from: String,
    /// The last day.
    to: String,
    /// Whether these are all rows of the span.
    is_complete: bool,
    /// A row for each person and day, the latest day first.
    data: Vec<ReviewExposureDay>,
}

/// How much a person has seen on a day.
#[derive(Serialize, Object)]
struct ReviewExposureDay {
    /// The person or the token.
    id: Uuid,
    /// What they are called. `null` if they are gone.
    #[oai(nullable)]
    name: Option<String>,
    /// The day, in UTC.
    day: String,
    /// Decisions that they have made, those included that they undid.
    decided: i32,
    /// Pictures that they have uncovered.
    unveiled: i32,
}

impl From<Exposures> for ReviewExposure {
    fn from(exposures: Exposures) -> Self {
        Self {
            from: exposures.from.to_string(),
            to: exposures.to.to_string(),
            is_complete: exposures.is_complete,
            data: exposures.rows.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Exposure> for ReviewExposureDay {
    fn from(row: Exposure) -> Self {
        Self {
            id: row.actor.as_uuid(),
            name: row.name,
            day: row.day.to_string(),
            decided: row.decided,
            unveiled: row.unveiled,
        }
    }
}
