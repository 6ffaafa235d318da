//! Fetches an image from a tenant's server, or says why that failed.

use std::time::Duration;

use chrono::Utc;
use domain::{decision::ImageProblem, id::TeamId, image::MAX_IMAGE_BYTES, webhook::retry_after};
use metrics::{Histogram, counter, histogram};
use queue::{Finish, Run};

use super::{Ended, Examiner};
use crate::{
    RETRY,
    outbound::{Fetch, FetchError, OutboundError},
};

/// The deadline of one fetch. Five fetches, and the waits between them, take less than two minutes.
const FETCH_DEADLINE: Duration = Duration::from_secs(10);
/// The longest wait between two fetches that a server may ask for.
const LONGEST_WISH: Duration = Duration::from_secs(15);
/// The formats that we ask servers for. The first bytes of the answer tell the actual format.
const ACCEPT: &str = "image/jpeg, image/png, image/gif, image/webp";

impl Examiner {
    pub(super) async fn fetch(&self, team: TeamId, url: &str) -> Result<Vec<u8>, FetchError> {
        let socket = self.outbound.socket(team).await;
        let socket = socket.map_err(OutboundError::from)?;
        let file = Fetch {
            url,
            accept: ACCEPT,
            limit: MAX_IMAGE_BYTES,
            deadline: FETCH_DEADLINE,
        };
        let fetched = self.outbound.fetch(socket, file).await;
        tried(fetched.as_ref().map_or_else(failure, |_| FETCHED)).increment(1);
        fetched
    }
}

/// The same job again, after the usual delay or when the server asked us to come back. It is not an
/// `Err`, because the queue would log that at each attempt.
pub(super) fn again(error: &FetchError, run: Run) -> Ended {
    let wish = match error {
        FetchError::Status {
            status,
            retry_after: Some(wish),
        } => retry_after(*status, wish, Utc::now()),
        FetchError::Status { .. }
        | FetchError::Outbound(_)
        | FetchError::Redirect
        | FetchError::Encoded
        | FetchError::TooLarge => None,
    };
    let wish = wish.unwrap_or_default().min(LONGEST_WISH);
    Finish::Again {
        effect: None,
        delay: RETRY.delay(run.attempt).max(wish),
        charged: true,
    }
}

pub(super) fn not_had(error: &FetchError) -> ImageProblem {
    match error {
        FetchError::TooLarge => ImageProblem::TooLarge,
        FetchError::Outbound(_)
        | FetchError::Status { .. }
        | FetchError::Redirect
        | FetchError::Encoded => ImageProblem::NotFetched,
    }
}

/// Sets the counters of all outcomes to 0. Otherwise Prometheus would not see the first increase.
pub(super) fn expect_none() {
    for outcome in FETCHES {
        tried(outcome).increment(0);
    }
    let _shown = sizes();
}

/// The sizes of files.
pub(super) fn sizes() -> Histogram {
    histogram!("gatehouse_image_bytes")
}

const FETCHED: &str = "fetched";
/// [`FETCHED`], and all values of [`failure`].
const FETCHES: [&str; 11] = [
    FETCHED,
    "refused",
    "busy",
    "timeout",
    "connect",
    "tls",
    "protocol",
    "status",
    "redirect",
    "encoded",
    "too_large",
];

fn tried(outcome: &'static str) -> metrics::Counter {
    counter!("gatehouse_image_fetches_total", "outcome" => outcome)
}

/// The value of the metric label `outcome` for a failed fetch.
const fn failure(error: &FetchError) -> &'static str {
    match error {
        FetchError::Outbound(OutboundError::Refused(_)) => "refused",
        FetchError::Outbound(OutboundError::Busy(_)) => "busy",
        FetchError::Outbound(OutboundError::Timeout) => "timeout",
        FetchError::Outbound(OutboundError::Connect(_)) => "connect",
        FetchError::Outbound(OutboundError::Tls(_)) => "tls",
        FetchError::Outbound(OutboundError::Protocol(_)) => "protocol",
        FetchError::Status { .. } => "status",
        FetchError::Redirect => "redirect",
        FetchError::Encoded => "encoded",
        FetchError::TooLarge => "too_large",
    }
}
