//! What an endpoint is created with, and what of it can be changed.

use std::collections::BTreeSet;

use ::management::Outlet;
use domain::{
    event::EventKind,
    id::TeamId,
    name::Name,
    webhook::{
        CustomHeader, EndpointUrl, InvalidHeader, MAX_HEADERS, MAX_NAME_BYTES, MAX_VALUE_BYTES,
    },
    whole::Whole,
};
use poem_openapi::{Object, registry::MetaSchema};
use serde::Deserialize;
use serde_json::{Value, json};
use store::endpoint::owned::Settings;
use url::Url;

use crate::{
    management::session::difference,
    member::{Described, Member, given},
    problem::{Code, FieldProblem, Refusal},
};

/// How many requests a second an endpoint takes.
type PerSecond = Whole<1, 10_000>;

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
pub(in super::super::super) struct NewWebhookHeader {
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
pub(in super::super::super) struct NewWebhookEndpoint {
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
pub(in super::super::super) struct WebhookEndpointChange {
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

impl NewWebhookEndpoint {
    /// # Errors
    /// The members that are to blame.
    pub(super) fn settings(self, team: TeamId, outlet: &Outlet) -> Result<Settings, Refusal> {
        let events = self.events.map(checked_events);
        Ok(Settings {
            url: judged(team, self.url.0, outlet)?,
            events: events.unwrap_or_else(|| Ok(EventKind::ALL.to_vec()))?,
            description: self.description.map(|description| description.0.into()),
            max_per_second: self.max_per_second.map(|limit| plain(limit.0)),
            headers: checked_headers(&self.headers)?,
        })
    }
}

impl WebhookEndpointChange {
    /// # Errors
    /// The members that are to blame.
    pub(super) fn applied_to(
        self,
        old: Settings,
        team: TeamId,
        outlet: &Outlet,
    ) -> Result<Settings, Refusal> {
        Ok(Settings {
            url: match self.url {
                Some(url) => judged(team, url.0, outlet)?,
                None => old.url,
            },
            events: self.events.map_or(Ok(old.events), checked_events)?,
            description: match self.description {
                Some(wish) => wish.map(|description| description.0.into()),
                None => old.description,
            },
            max_per_second: match self.max_per_second {
                Some(wish) => wish.map(|limit| plain(limit.0)),
                None => old.max_per_second,
            },
            headers: match self.headers {
                Some(headers) => checked_headers(&headers)?,
                None => old.headers,
            },
        })
    }
}

fn judged(team: TeamId, address: EndpointUrl, outlet: &Outlet) -> Result<String, Refusal> {
    let judged = outlet.judge(team, address.url());
    judged.map_err(|why| Refusal::invalid_field("url", why))?;
    Ok(address.into())
}

/// Each once, in one order.
fn checked_events(events: Vec<Member<EventKind>>) -> Result<Vec<EventKind>, Refusal> {
    let events: BTreeSet<EventKind> = events.into_iter().map(|event| event.0).collect();
    if events.is_empty() {
        let message = "must name at least one kind of event; to send nothing, disable the endpoint";
        return Err(Refusal::invalid_field("events", message));
    }
    Ok(events.into_iter().collect())
}

fn checked_headers(headers: &[NewWebhookHeader]) -> Result<Vec<CustomHeader>, Refusal> {
    if headers.len() > MAX_HEADERS {
        let message = format!("has more than {MAX_HEADERS} headers");
        return Err(Refusal::invalid_field("headers", message));
    }
    let (mut checked, mut problems) = (Vec::with_capacity(headers.len()), Vec::new());
    let mut blame = |place: usize, member: &str, message: String| {
        problems.push(FieldProblem {
            field: format!("headers[{place}].{member}"),
            message,
            position: None,
        });
    };
    let mut names = BTreeSet::new();
    for (place, header) in headers.iter().enumerate() {
        match CustomHeader::new(&header.name, &header.value) {
            Ok(header) if !names.insert(header.name().to_owned()) => {
                blame(place, "name", "is given twice".to_owned());
            }
            Ok(header) => checked.push(header),
            Err(wrong @ (InvalidHeader::Name | InvalidHeader::Reserved)) => {
                blame(place, "name", wrong.to_string());
            }
            Err(wrong @ InvalidHeader::Value) => blame(place, "value", wrong.to_string()),
        }
    }
    if problems.is_empty() {
        Ok(checked)
    } else {
        Err(Refusal::fields(Code::InvalidRequest, problems))
    }
}

fn plain(limit: PerSecond) -> i32 {
    i32::try_from(limit.get()).unwrap_or(i32::MAX)
}

/// The settings as the audit log may know them: the rest of an address, and what headers hold, may be secrets.
pub(super) fn audited(settings: &Settings) -> Value {
    let names: Vec<&str> = settings.headers.iter().map(CustomHeader::name).collect();
    json!({
        "origin": origin(&settings.url),
        "events": settings.events,
        "description": settings.description,
        "max_per_second": settings.max_per_second,
        "header_names": names,
    })
}

/// What the audit log may know of a change; none: there was none.
pub(super) fn audited_change(before: &Settings, after: &Settings) -> Option<Value> {
    if before == after {
        return None;
    }
    let (from, to) = (audited(before), audited(after));
    let mut details = difference(&from, &to).unwrap_or_else(|| json!({ "changed": {} }));
    // Where only what may not be told differs, it is told that it does.
    for (member, differs) in [
        ("origin", before.url != after.url),
        ("header_names", before.headers != after.headers),
    ] {
        if differs {
            details["changed"][member] = json!({ "from": from[member], "to": to[member] });
        }
    }
    Some(details)
}

/// Scheme, host and port.
fn origin(url: &str) -> String {
    let url = Url::parse(url);
    url.map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}
