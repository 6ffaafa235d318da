//! The headers of a delivery's requests, as its team may see them.

use domain::signature::{SERVICE_SIGNATURE, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP};
use store::delivery::Delivery;

/// A header of a delivery's attempts.
#[derive(Clone, Debug)]
pub struct SentHeader {
    /// Its name, in lower case.
    pub name: String,
    /// Its value. `None` if each attempt has its own, and for the endpoint's own headers, whose
    /// values are never shown.
    pub value: Option<String>,
}

/// The headers of a request. Each attempt has its own signatures, and the values of the endpoint's
/// own headers are never shown.
pub fn headers(delivery: &Delivery) -> Vec<SentHeader> {
    let listed = &delivery.listed;
    let header = |name: &str, value: Option<String>| SentHeader {
        name: name.to_ascii_lowercase(),
        value,
    };
    let known = [
        ("content-type", Some("application/json".to_owned())),
        ("user-agent", Some("Service-Webhook/1.0".to_owned())),
        ("x-service-event", Some(listed.kind.to_string())),
        ("x-service-delivery-id", Some(listed.id.to_string())),
        (STANDARD_ID, Some(listed.event.to_string())),
        (STANDARD_TIMESTAMP, None),
        (STANDARD_SIGNATURE, None),
        (SERVICE_SIGNATURE, None),
    ];
    let known = known.into_iter().map(|(name, value)| header(name, value));
    let custom = delivery.headers.iter();
    known
        .chain(custom.map(|custom| header(custom.name(), None)))
        .collect()
}
