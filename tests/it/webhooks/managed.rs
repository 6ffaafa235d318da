//! What owners do with their endpoints, through the whole service.

mod moved;
mod ping;
mod rules;

use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);
