//! A webhook endpoint in responses, and the result of a test.

use api_common::{Field, Schema, Time, given};
use domain::{
    breaker::Allowed,
    event::EventKind,
    name::Name,
    reason::Reason,
    webhook::{CustomHeader, EndpointUrl, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES},
};
use management::endpoints::{EndpointChange, NewEndpoint, NewHeader, PerSecond};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::endpoint::{Pinged, crud::Endpoint};
use uuid::Uuid;

use crate::example_values;

/// Where a site's events go.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookEndpoint {
    /// The endpoint.
    id: Uuid,
    /// Its site.
    site_id: Uuid,
    /// Its URL.
    url: String,
    /// The kinds of event that it gets. More kinds may be added.
    events: Vec<String>,
    /// What it is for, in your own words.
    #[schema(nullable)]
    description: Option<String>,
    /// The most requests a second that it gets. `null` means no limit.
    #[schema(nullable)]
    max_per_second: Option<i32>,
    /// The names of the custom headers of every request. Their values are never shown.
    header_names: Vec<String>,
    /// When it was created.
    created_at: Field<Time>,
    /// When it was disabled. `null` if it is enabled.
    #[schema(nullable)]
    disabled_at: Option<Field<Time>>,
    /// Why it was disabled: its owner's reason, or that it answered 410 Gone, or that no delivery succeeded for five days.
    #[schema(nullable)]
    disabled_reason: Option<String>,
    /// Its first failure since its last success. `null` if its last attempt succeeded.
    #[schema(nullable)]
    failing_since: Option<Field<Time>>,
    /// Its circuit breaker: `closed`, `open` (it keeps failing, so nothing is sent) or `half_open` (one request tests
    /// whether it works again). More states may be added.
    breaker: String,
    /// Until when nothing more is sent. `null` if requests are sent.
    #[schema(nullable)]
    breaker_until: Option<Field<Time>>,
    /// How many of its last 1,000 deliveries are pending.
    waiting_deliveries: i64,
}

impl From<Endpoint> for WebhookEndpoint {
    fn from(endpoint: Endpoint) -> Self {
        let breaker = endpoint.health.breaker;
        let allowed = breaker.allows(endpoint.at);
        let until = match allowed {
            Allowed::Nothing(until) => Some(until),
            Allowed::Asking | Allowed::Probing => None,
        };
        let settings = endpoint.settings;
        let name = |header: &CustomHeader| header.name().to_owned();
        Self {
            id: endpoint.id.as_uuid(),
            site_id: endpoint.site.as_uuid(),
            url: settings.url,
            events: settings.events.iter().map(EventKind::to_string).collect(),
            description: settings.description,
            max_per_second: settings.max_per_second,
            header_names: settings.headers.iter().map(name).collect(),
            created_at: endpoint.created_at.into(),
            disabled_at: endpoint.disabled_at.map(Field::from),
            disabled_reason: endpoint.disabled_reason,
            failing_since: endpoint.health.failing_since.map(Field::from),
            breaker: breaker.state(endpoint.at).to_string(),
            breaker_until: until.map(Field::from),
            waiting_deliveries: endpoint.waiting,
        }
    }
}

/// Why an endpoint is disabled.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDisabling {
    /// The reason. It is shown with the endpoint.
    pub(super) reason: Field<Reason>,
}

/// The result of a retry.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookRetry {
    /// How many deliveries waited for their next attempt and are due now.
    pub(super) deliveries: u64,
}

/// The result of a test.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookPing {
    /// How it ended, in one word, as for attempts of deliveries: `delivered` is any 2xx. More values may be added.
    outcome: String,
    /// The answer's HTTP status. `null` if there was no answer.
    #[schema(nullable)]
    status_code: Option<u16>,
    /// The first 2 KiB of the answer, as text. `null` if there was no answer.
    #[schema(nullable)]
    response_body: Option<String>,
    /// Why there was no answer. `null` if there was one.
    #[schema(nullable)]
    error: Option<String>,
    /// How long it took, in milliseconds.
    duration_ms: u64,
}

impl From<Pinged> for WebhookPing {
    fn from(pinged: Pinged) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Self {
            outcome: pinged.outcome.to_owned(),
            status_code: pinged.status_code,
            response_body: pinged.response_body.map(text),
            error: pinged.error,
            duration_ms: u64::try_from(pinged.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

pub(super) fn example() -> Value {
    json!({
        "id": example_values::ENDPOINT,
        "site_id": example_values::SITE,
        "url": "https://example.com/hooks",
        "events": ["media.created", "media.moderated"],
        "description": "The moderation queue",
        "max_per_second": 50,
        "header_names": ["authorization"],
        "created_at": example_values::CREATED_AT,
        "disabled_at": null,
        "disabled_reason": null,
        "failing_since": null,
        "breaker": "closed",
        "breaker_until": null,
        "waiting_deliveries": 0,
    })
}

pub(super) fn ping_example() -> Value {
    json!({
        "outcome": "delivered",
        "status_code": 204,
        "response_body": "",
        "error": null,
        "duration_ms": 87,
    })
}

/// A custom header of every request.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookHeader {
    /// Its name: letters, digits and hyphens. Headers that the service, HTTP or proxies set are not allowed.
    #[schema(pattern = "^[A-Za-z0-9-]{1,100}$")]
    name: String,
    /// Its value: visible ASCII characters and inner spaces. It is stored encrypted and never shown.
    #[schema(pattern = "^[!-~]([ -~]{0,1998}[!-~])?$")]
    value: String,
}

const _: () = assert!(
    MAX_NAME_BYTES == 100 && MAX_VALUE_BYTES == 2_000,
    "the bounds of the patterns"
);

/// An endpoint to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookEndpoint {
    /// Its URL. The address must be public and the port 80, 443, 8080 or 8443, unless the operator allows more.
    url: Field<EndpointUrl>,
    /// The kinds of event that it gets. If omitted, all kinds that exist now.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_items = 1)]
    events: Option<Vec<Field<EventKind>>>,
    /// What it is for, in your own words.
    #[schema(nullable)]
    description: Option<Field<Name>>,
    /// The most requests a second that it gets. `null` means no limit.
    #[schema(nullable)]
    max_per_second: Option<Field<PerSecond>>,
    /// Custom headers of every request, such as credentials for a gateway in front of it.
    #[serde(default)]
    #[schema(empty_by_default, max_items = 20)]
    headers: Vec<NewWebhookHeader>,
}

const _: () = assert!(MAX_HEADERS == 20, "the bound of `headers`");

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct WebhookEndpointChange {
    /// Its new URL. Waiting deliveries go there, too.
    #[serde(default, deserialize_with = "given")]
    url: Option<Field<EndpointUrl>>,
    /// The kinds of event that it gets from now on. This replaces the whole list.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_items = 1)]
    events: Option<Vec<Field<EventKind>>>,
    /// What it is for. `null` removes the description.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    description: Option<Option<Field<Name>>>,
    /// The most requests a second that it gets. `null` means no limit.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    max_per_second: Option<Option<Field<PerSecond>>>,
    /// Custom headers of every request from now on. This replaces the whole list: headers that you do not name are removed.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 20)]
    headers: Option<Vec<NewWebhookHeader>>,
}

impl From<NewWebhookHeader> for NewHeader {
    fn from(header: NewWebhookHeader) -> Self {
        Self {
            name: header.name,
            value: header.value,
        }
    }
}

impl From<NewWebhookEndpoint> for NewEndpoint {
    fn from(new: NewWebhookEndpoint) -> Self {
        Self {
            url: new.url.0,
            events: new.events.map(kinds),
            description: new.description.map(|name| name.0),
            max_per_second: new.max_per_second.map(|limit| limit.0),
            headers: headers(new.headers),
        }
    }
}

impl From<WebhookEndpointChange> for EndpointChange {
    fn from(change: WebhookEndpointChange) -> Self {
        Self {
            url: change.url.map(|url| url.0),
            events: change.events.map(kinds),
            description: change.description.map(|wish| wish.map(|name| name.0)),
            max_per_second: change.max_per_second.map(|wish| wish.map(|limit| limit.0)),
            headers: change.headers.map(headers),
        }
    }
}

fn kinds(events: Vec<Field<EventKind>>) -> Vec<EventKind> {
    events.into_iter().map(|event| event.0).collect()
}

fn headers(headers: Vec<NewWebhookHeader>) -> Vec<NewHeader> {
    headers.into_iter().map(NewHeader::from).collect()
}
