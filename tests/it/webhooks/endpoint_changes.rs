//! What owners do with their endpoints, through the whole service.

mod moved;
mod ping;
mod rules;

use crate::support::SOON;
