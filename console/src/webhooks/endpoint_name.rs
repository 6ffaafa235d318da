//! What endpoints are called.

use std::collections::HashMap;

use domain::id::EndpointId;
use management::deliveries::Label;
use url::{Position, Url};

use crate::page::Choice;

/// What an endpoint is called: what it is for, or its host.
pub(super) fn name(description: Option<&str>, url: &str) -> String {
    description.map_or_else(|| host(url), str::to_owned)
}

/// The host of a URL, and its port if it has one. It is always printable: names are encoded.
pub(super) fn host(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| String::new(),
        |url| url[Position::BeforeHost..Position::AfterPort].to_owned(),
    )
}

/// An endpoint in lists of deliveries and events.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) site: String,
    pub(super) is_deleted: bool,
}

impl From<&Label> for Named {
    fn from(label: &Label) -> Self {
        Self {
            name: name(label.description.as_deref(), &label.url),
            site: label.site_name.clone(),
            is_deleted: label.is_deleted,
        }
    }
}

pub(super) fn choices(labels: &[Label], chosen: Option<EndpointId>) -> Vec<Choice> {
    let chosen = chosen.map_or_else(String::new, |endpoint| endpoint.to_string());
    let labels = labels.iter();
    let choices = labels.map(|label| {
        let mut name = name(label.description.as_deref(), &label.url);
        if label.is_deleted {
            name.push_str(" (deleted)");
        }
        Choice::new(label.endpoint, name, &chosen)
    });
    choices.collect()
}

pub(super) struct Names(HashMap<EndpointId, Named>);

impl Names {
    pub(super) fn of(labels: &[Label]) -> Self {
        let named = labels.iter().map(|label| (label.endpoint, label.into()));
        Self(named.collect())
    }

    /// An endpoint's name; none if it is gone.
    pub(super) fn get(&self, endpoint: &EndpointId) -> Option<&Named> {
        self.0.get(endpoint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_called_what_it_is_for_or_by_its_host() {
        let url = "https://user:secret@bücher.example:8443/hooks?key=1";
        let url = Url::parse(url).unwrap();
        assert_eq!(name(None, url.as_str()), "xn--bcher-kva.example:8443");
        assert_eq!(name(Some("Queue"), url.as_str()), "Queue");
        assert_eq!(host("https://a.example/"), "a.example");
    }
}
