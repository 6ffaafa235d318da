//! The deliveries of a page are loaded a few at a time.

use std::time::{Duration, Instant};

use domain::id::DeliveryId;
use store::{Error, delivery::Loaded};
use tracing::debug;

use super::{Failure, Page};

/// Turns that are loaded at once. The first one is loaded alone: it shows whether the endpoint
/// answers quickly.
const AHEAD: usize = 8;

/// How long loaded deliveries are used before they are loaded again.
const FRESH: Duration = Duration::from_secs(1);

impl Page<'_> {
    /// Returns the first delivery, and loads the next ones with it.
    pub(super) async fn load(&mut self, delivery: DeliveryId) -> Result<Option<Loaded>, Failure> {
        if self.loaded_at.is_some_and(|at| at.elapsed() > FRESH) {
            self.loaded.clear();
        }
        if let Some(found) = self.loaded.remove(&delivery) {
            return Ok(found);
        }
        let ahead = if self.loaded_at.is_none() { 1 } else { AHEAD };
        let wanted: Vec<DeliveryId> = self.turns.iter().take(ahead).flatten().copied().collect();
        let loader = &self.courier.deliveries;
        let found = loader.load_all_for(self.team, &wanted).await;
        self.loaded_at = Some(Instant::now());
        for (delivery, found) in wanted.into_iter().zip(found) {
            let found = match found {
                Err(Error::Unreadable(error)) if !self.is_single => {
                    debug!(%error, delivery.id = %delivery, "cannot read a delivery of a webhook page");
                    Some(Loaded::Unreadable)
                }
                found => found?,
            };
            self.loaded.insert(delivery, found);
        }
        Ok(self.loaded.remove(&delivery).flatten())
    }
}
