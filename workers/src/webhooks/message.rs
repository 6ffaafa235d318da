//! An event as an endpoint gets it: signed, with all its headers.

use bytes::Bytes;
use database::Clock;
use domain::{
    id::{DeliveryId, EventId},
    signature::{SignatureHeaders, SigningSecrets},
    webhook::{ATTEMPT_DEADLINE, CustomHeader},
};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use telemetry::trace::Context;

use crate::outbound::{Answer, Outbound, OutboundError, Post, Socket};

/// An event for an endpoint.
pub(super) struct Message<'a> {
    /// The event's name.
    pub(super) event: &'a str,
    pub(super) id: EventId,
    pub(super) delivery: DeliveryId,
    pub(super) secrets: &'a SigningSecrets,
    /// The headers that the endpoint's owner wants on every request.
    pub(super) custom: &'a [CustomHeader],
    pub(super) body: &'a [u8],
    /// This request's step of the trace.
    pub(super) trace: Option<Context>,
    /// Gives the time of the signature.
    pub(super) clock: &'a Clock,
}

impl Message<'_> {
    pub(super) async fn send(
        &self,
        outbound: &Outbound,
        socket: Socket,
        url: &str,
    ) -> Result<Answer, OutboundError> {
        let post = Post {
            url,
            headers: self.headers(self.clock.unix_seconds()),
            body: Bytes::copy_from_slice(self.body),
            deadline: ATTEMPT_DEADLINE,
        };
        outbound.post(socket, post).await
    }

    fn headers(&self, timestamp: i64) -> HeaderMap {
        let signatures = SignatureHeaders::sign(self.secrets, self.id, timestamp, self.body);
        let id = self.delivery.to_string();
        let event = [
            ("x-service-event", self.event),
            ("x-service-delivery-id", id.as_str()),
        ];
        let mut headers = HeaderMap::new();
        let mut set = |name: &str, value: &str| {
            headers.insert(
                HeaderName::from_bytes(name.as_bytes()).expect("names were checked"),
                HeaderValue::from_str(value).expect("values were checked"),
            );
        };
        // Our headers come last, so that no custom header replaces a signature.
        for header in self.custom {
            set(header.name(), header.expose());
        }
        for (name, value) in signatures.iter().chain(event) {
            set(name, value);
        }
        if let Some(trace) = self.trace {
            set("traceparent", &trace.to_string());
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("Service-Webhook/1.0"));
        headers
    }
}
