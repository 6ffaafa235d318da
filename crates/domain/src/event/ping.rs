//! The event with which the owner of an endpoint tests whether it works. It belongs to no item and
//! is stored in no table.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::iso8601;
use crate::{
    id::SiteId,
    signature::{WebhookSecret, sign_service},
};

/// Its name.
pub const PING: &str = "webhook.test.ping";

#[derive(Serialize)]
struct Ping {
    event: &'static str,
    #[serde(serialize_with = "iso8601")]
    timestamp: DateTime<Utc>,
    data: PingData,
    #[serde(rename = "_service_signature", skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize)]
struct PingData {
    site_id: SiteId,
    test: bool,
    message: &'static str,
}

/// The raw body. Its last member, `_service_signature`, signs the compact JSON of all others.
pub fn ping(site: SiteId, at: DateTime<Utc>, secret: &WebhookSecret) -> Vec<u8> {
    let mut ping = Ping {
        event: PING,
        timestamp: at,
        data: PingData {
            site_id: site,
            test: true,
            message: "This is a test event.",
        },
        signature: None,
    };
    ping.signature = Some(sign_service(secret, &ping.to_json()));
    ping.to_json()
}

impl Ping {
    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a ping has string keys only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed with `openssl dgst -sha256 -hmac`.
    const SIGNED: &str = concat!(
        r#"{"event":"webhook.test.ping","timestamp":"2023-11-14T22:13:20.000001Z","#,
        r#""data":{"site_id":"018f3f3e-0000-7000-8000-00000000000a","test":true,"message":"This is a test event."},"#,
        r#""_service_signature":"sha256=9b2331b6637d9ee4ba8aae5a512e18051278d8b0e9d80d069179e4f456f984ad"}"#,
    );

    #[test]
    fn its_body_is_signed_by_its_last_member_as_an_independent_tool_signs_it() {
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let site = "018f3f3e-0000-7000-8000-00000000000a".parse().unwrap();
        let at = DateTime::from_timestamp_micros(1_700_000_000_000_001).unwrap();
        let body = ping(site, at, &secret.parse().unwrap());
        assert_eq!(String::from_utf8(body).unwrap(), SIGNED);
    }
}
