//! What a stored job is about, for people who look at it.

use serde::Deserialize;
use uuid::Uuid;

/// The members of payloads that are ids. Each payload has at most one of them.
#[derive(Deserialize)]
struct Ids {
    media: Option<Uuid>,
    delivery: Option<Uuid>,
    backtest: Option<Uuid>,
    import: Option<Uuid>,
    scan: Option<Uuid>,
    recovery: Option<Uuid>,
    opinion: Option<Uuid>,
    bulk: Option<Uuid>,
    erasure: Option<Uuid>,
    closure: Option<Uuid>,
}

/// The item, delivery, backtest, import, scan, recovery, opinion, bulk decision, erasure or closure that a job is about. `None` for
/// a page of several deliveries, and for a payload that this version cannot read.
pub fn subject(payload: &str) -> Option<Uuid> {
    let ids: Ids = serde_json::from_str(payload).ok()?;
    ids.media
        .or(ids.delivery)
        .or(ids.backtest)
        .or(ids.import)
        .or(ids.scan)
        .or(ids.recovery)
        .or(ids.opinion)
        .or(ids.bulk)
        .or(ids.erasure)
        .or(ids.closure)
}

#[cfg(test)]
mod tests {
    use domain::id::{DeliveryId, EndpointId, MediaId, RecoveryId};
    use serde_json::json;

    use super::*;
    use crate::jobs::{MediaJob, RecoveryJob};

    #[test]
    fn a_job_tells_what_it_is_about_and_nothing_else() {
        let id = Uuid::from_u128(7);
        let media = MediaJob {
            media: MediaId::from(id),
            tell: Some(vec![EndpointId::from(Uuid::from_u128(8))]),
            awaited: false,
            all_scores: false,
        };
        let recovery = RecoveryJob {
            recovery: RecoveryId::from(id),
        };
        let page = json!({ "team": Uuid::nil(), "turns": [[DeliveryId::from(id)]] });
        for (payload, expected) in [
            (json!(media), Some(id)),
            (json!(recovery), Some(id)),
            (json!({ "delivery": id, "team": Uuid::nil() }), Some(id)),
            (page, None),
            (json!({ "media": "a text" }), None),
            (json!({ "text": "a text" }), None),
            (json!(["a text"]), None),
            (json!(null), None),
        ] {
            assert_eq!(subject(&payload.to_string()), expected, "{payload}");
        }
    }
}
