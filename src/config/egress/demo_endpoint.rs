//! The endpoint that `gatehouse up` is given for the demo site.

use domain::{id::TeamId, webhook::EndpointUrl};
use url::Url;
use uuid::Uuid;
use workers::outbound::{EgressPolicy, Exemption, HostPort};

use super::check_url;

/// An endpoint for the demo site. Its host and port are exempt from the egress guard; all other
/// rules apply to it.
pub(crate) fn demo_endpoint(text: &str) -> Result<Url, String> {
    let url: EndpointUrl = text.parse().map_err(|error| format!("{error}"))?;
    let exempt = HostPort::of(url.url()).map(|target| Exemption { target, team: None });
    let policy = EgressPolicy {
        exempt: exempt.into_iter().collect(),
        ..EgressPolicy::default()
    };
    let team = TeamId::from_uuid(Uuid::nil());
    check_url(&policy, team, url.url())?;
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demos_endpoint_is_where_webhooks_can_be_sent() {
        assert!(demo_endpoint("http://127.0.0.1:9000/").is_ok());
        for (wrong, told) in [
            ("127.0.0.1:9000", "must be a URL such as"),
            ("ftp://127.0.0.1/", "begin it with https:// or http://"),
            ("http://a:b@127.0.0.1/", "in a header"),
        ] {
            let refused = demo_endpoint(wrong).unwrap_err();
            assert!(refused.contains(told), "{wrong}: {refused}");
        }
    }
}
