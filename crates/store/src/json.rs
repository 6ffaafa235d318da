//! Values as the JSON text that statements get.

use serde::Serialize;

pub(crate) fn to_json(value: &impl Serialize) -> Result<String, sqlx::Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()))
}
