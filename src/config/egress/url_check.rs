//! Whether a URL that a tenant named is permitted, with advice if it is not.

use std::fmt::Write as _;

use domain::id::TeamId;
use url::Url;
use workers::outbound::{EgressPolicy, Refusal};

/// Checks a URL that a team named, by its text.
///
/// # Errors
/// Why it would not be contacted, and everything that can be done about it.
pub(crate) fn check_url(policy: &EgressPolicy, team: TeamId, url: &Url) -> Result<(), String> {
    let judged = policy.judge_url(team, url);
    judged.map_err(|refusal| format!("{refusal}: {}", advice(refusal, team, url)))
}

pub(super) fn advice(refusal: Refusal, team: TeamId, url: &Url) -> String {
    let mut advice = refusal.advice().to_owned();
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return advice;
    };
    let is_local = refusal == Refusal::Loopback
        || refusal == Refusal::Name && host.trim_end_matches('.').ends_with("localhost");
    let can_be_opened = match refusal {
        // Metadata addresses reveal a machine's credentials, and multicast addresses lead to no
        // single server.
        Refusal::Url
        | Refusal::Scheme
        | Refusal::UserInfo
        | Refusal::Metadata
        | Refusal::Multicast => false,
        Refusal::Name => is_local,
        Refusal::Port
        | Refusal::Loopback
        | Refusal::Private
        | Refusal::LinkLocal
        | Refusal::Translated
        | Refusal::Reserved => true,
    };
    if !can_be_opened {
        return advice;
    }
    let _ = write!(
        advice,
        ", or ask the operator to open it with `--egress-allow {team}={host}:{port}` (GATEHOUSE_EGRESS_ALLOW)"
    );
    if is_local && url.scheme() == "http" {
        let _ = write!(
            advice,
            ". To try webhooks on your own machine, run `gatehouse up --webhook-url http://127.0.0.1:9000/` and `gatehouse \
             listen --forward {url}`"
        );
    }
    advice
}
