//! What the audit log records about an endpoint. The path of its URL and the values of its headers
//! may be secrets.

use domain::{id::SiteId, webhook::CustomHeader};
use serde_json::{Value, json};
use store::endpoint::crud::{Endpoint, Settings};
use url::Url;

use crate::{created, difference};

/// The details of a new endpoint.
pub(super) fn creation(site: SiteId, settings: &Settings) -> Value {
    created(&with_site(site, settings))
}

/// The details of a deletion.
pub(super) fn deletion(endpoint: &Endpoint) -> Value {
    json!({ "deleted": with_site(endpoint.site, &endpoint.settings) })
}

/// The details of a change. `None` if nothing changed.
pub(super) fn change(before: &Settings, after: &Settings) -> Option<Value> {
    if before == after {
        return None;
    }
    let (from, to) = (shown(before), shown(after));
    let mut details = difference(&from, &to).unwrap_or_else(|| json!({ "changed": {} }));
    // If the difference is in a part that is not shown, the log only says that there is one.
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

fn with_site(site: SiteId, settings: &Settings) -> Value {
    let mut shown = shown(settings);
    shown["site_id"] = json!(site);
    shown
}

fn shown(settings: &Settings) -> Value {
    let names: Vec<&str> = settings.headers.iter().map(CustomHeader::name).collect();
    json!({
        "origin": origin(&settings.url),
        "events": settings.events,
        "description": settings.description,
        "max_per_second": settings.max_per_second,
        "header_names": names,
    })
}

/// Scheme, host and port.
fn origin(url: &str) -> String {
    let url = Url::parse(url);
    url.map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}
