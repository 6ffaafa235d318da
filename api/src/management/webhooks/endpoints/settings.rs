//! What an endpoint is created with, and what of it can be changed.

use domain::{
    event::EventKind,
    name::Name,
    webhook::{EndpointUrl, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES},
};
use management::endpoints::{EndpointChange, NewEndpoint, NewHeader, PerSecond};
use poem_openapi::{Object, registry::MetaSchema};
use serde::Deserialize;

use crate::member::{Described, Member, given};

impl Described for EndpointUrl {
    fn expected() -> String {
        Self::EXPECTED.to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            ..MetaSchema::new_with_format("string", "uri")
        }
    }
}

/// A header that goes with every request.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookHeader {
    /// Its name: letters, digits and hyphens. Headers that the service, HTTP or proxies set are refused.
    #[oai(validator(pattern = "^[A-Za-z0-9-]{1,100}$"))]
    name: String,
    /// Its value: visible ASCII characters and inner spaces. It is stored sealed and never shown.
    #[oai(validator(pattern = "^[!-~]([ -~]{0,1998}[!-~])?$"))]
    value: String,
}

const _: () = assert!(
    MAX_NAME_BYTES == 100 && MAX_VALUE_BYTES == 2_000,
    "the bounds of the patterns"
);

/// An endpoint to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookEndpoint {
    /// Where it is. Addresses that are not public, and ports other than 80, 443, 8080 and 8443, are refused unless the operator
    /// has opened them.
    url: Member<EndpointUrl>,
    /// The kinds of event that it gets; all that there are now if nothing is said.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(min_items = 1))]
    events: Option<Vec<Member<EventKind>>>,
    /// What it is for.
    #[oai(nullable)]
    description: Option<Member<Name>>,
    /// How many requests a second it gets at most; null is as many as there are.
    #[oai(nullable)]
    max_per_second: Option<Member<PerSecond>>,
    /// What goes with every request, such as the credentials of a gateway before it; none if nothing is said.
    #[serde(default)]
    #[oai(default, validator(max_items = 20))]
    headers: Vec<NewWebhookHeader>,
}

const _: () = assert!(MAX_HEADERS == 20, "the bound of `headers`");

/// What is to be otherwise of an endpoint.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookEndpointChange {
    /// Where it is from now on; what waits goes there, too.
    #[serde(default, deserialize_with = "given")]
    url: Option<Member<EndpointUrl>>,
    /// All kinds of event that it gets from now on.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(min_items = 1))]
    events: Option<Vec<Member<EventKind>>>,
    /// What it is for; null is nothing.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    description: Option<Option<Member<Name>>>,
    /// How many requests a second it gets at most; null is as many as there are.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    max_per_second: Option<Option<Member<PerSecond>>>,
    /// All that goes with every request from now on: those that were there and are not named here are gone.
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

fn kinds(events: Vec<Member<EventKind>>) -> Vec<EventKind> {
    events.into_iter().map(|event| event.0).collect()
}

fn headers(headers: Vec<NewWebhookHeader>) -> Vec<NewHeader> {
    headers.into_iter().map(NewHeader::from).collect()
}
