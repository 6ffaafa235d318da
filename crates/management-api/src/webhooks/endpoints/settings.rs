//! The settings of a new endpoint, and the settings that can be changed.

use api_common::field::{Field, given};
use domain::{
    event::EventKind,
    name::Name,
    webhook::{EndpointUrl, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES},
};
use management::endpoints::{EndpointChange, NewEndpoint, NewHeader, PerSecond};
use poem_openapi::Object;
use serde::Deserialize;

/// A custom header of every request.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookHeader {
    /// Its name: letters, digits and hyphens. Headers that the service, HTTP or proxies set are not allowed.
    #[oai(validator(pattern = "^[A-Za-z0-9-]{1,100}$"))]
    name: String,
    /// Its value: visible ASCII characters and inner spaces. It is stored encrypted and never shown.
    #[oai(validator(pattern = "^[!-~]([ -~]{0,1998}[!-~])?$"))]
    value: String,
}

const _: () = assert!(
    MAX_NAME_BYTES == 100 && MAX_VALUE_BYTES == 2_000,
    "the bounds of the patterns"
);

/// An endpoint to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookEndpoint {
    /// Its URL. The address must be public and the port 80, 443, 8080 or 8443, unless the operator allows more.
    url: Field<EndpointUrl>,
    /// The kinds of event that it gets. If omitted, all kinds that exist now.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(min_items = 1))]
    events: Option<Vec<Field<EventKind>>>,
    /// What it is for, in your own words.
    #[oai(nullable)]
    description: Option<Field<Name>>,
    /// The most requests a second that it gets. `null` means no limit.
    #[oai(nullable)]
    max_per_second: Option<Field<PerSecond>>,
    /// Custom headers of every request, such as credentials for a gateway in front of it.
    #[serde(default)]
    #[oai(default, validator(max_items = 20))]
    headers: Vec<NewWebhookHeader>,
}

const _: () = assert!(MAX_HEADERS == 20, "the bound of `headers`");

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct WebhookEndpointChange {
    /// Its new URL. Waiting deliveries go there, too.
    #[serde(default, deserialize_with = "given")]
    url: Option<Field<EndpointUrl>>,
    /// The kinds of event that it gets from now on. This replaces the whole list.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(min_items = 1))]
    events: Option<Vec<Field<EventKind>>>,
    /// What it is for. `null` removes the description.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    description: Option<Option<Field<Name>>>,
    /// The most requests a second that it gets. `null` means no limit.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    max_per_second: Option<Option<Field<PerSecond>>>,
    /// Custom headers of every request from now on. This replaces the whole list: headers that you do not name are removed.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(max_items = 20))]
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
