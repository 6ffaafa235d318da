//! The lines with which a person finds why a delivery was not attempted.

use std::time::Duration;

use store::delivery::ToDeliver;
use telemetry::trace::{Current, Step};
use tracing::{Level, debug, enabled};

/// Logs a line about a delivery that is not attempted now, at DEBUG and with the trace of its item:
/// a page works for many items.
fn log(delivery: &ToDeliver, line: impl FnOnce()) {
    if enabled!(Level::DEBUG) {
        let step = Step::after(delivery.trace, delivery.team.as_uuid().into_bytes());
        Current::of(step).sync_scope(line);
    }
}

/// Why a delivery was not sent yet.
pub(super) fn waits(delivery: &ToDeliver, wait: Duration, why: &'static str) {
    log(delivery, || {
        debug!(
            media.id = %delivery.media,
            delivery.id = %delivery.delivery,
            endpoint.id = %delivery.endpoint,
            event = delivery.kind.as_str(),
            wait_ms = wait.as_secs_f64() * 1_000.0,
            why,
            "a delivery waits"
        );
    });
}

/// A delivery that is never sent.
pub(super) fn discarded(delivery: &ToDeliver) {
    log(delivery, || {
        debug!(
            media.id = %delivery.media,
            delivery.id = %delivery.delivery,
            endpoint.id = %delivery.endpoint,
            event = delivery.kind.as_str(),
            "a delivery is discarded, because its endpoint is disabled"
        );
    });
}
