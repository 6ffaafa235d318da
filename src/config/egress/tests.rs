//! Exceptions of the egress guard, and the advice in refusals.

use domain::id::TeamId;

use super::*;

#[test]
fn one_message_says_all_that_can_be_done_and_what_it_advises_helps() {
    const TEAM: &str = "018f3f3e-0000-7000-8000-000000000001";
    let team: TeamId = TEAM.parse().unwrap();
    let policy = EgressPolicy::default();
    let told = |url: &str| check_url(&policy, team, &url.parse().unwrap()).unwrap_err();
    for url in [
        "http://localhost:3000/hooks",
        "http://127.0.0.1/",
        "http://[::1]:3000/hooks?a=b",
        "http://10.1.0.7:9000/",
        "https://hooks.example.com:3000/",
    ] {
        let told = told(url);
        let (_, advised) = told.split_once("--egress-allow ").unwrap();
        let (allowed, _) = advised.split_once('`').unwrap();
        let options = EgressOptions {
            egress_allow: vec![allowed.parse().unwrap()],
        };
        let opened = options.policy(None);
        assert_eq!(
            opened.judge_url(team, &url.parse().unwrap()),
            Ok(()),
            "{told}"
        );
    }
    let local = told("http://localhost:3000/hooks");
    assert!(
        local.contains("not permitted: use a public one, or ask the operator")
            && local.contains("`gatehouse listen --forward http://localhost:3000/hooks`"),
        "{local}"
    );
    for url in [
        "http://10.1.0.7/",
        "https://localhost/",
        "https://example.com:25/",
    ] {
        assert!(!told(url).contains("listen"), "{url}");
    }
    // The advice must not suggest opening an address that reveals a machine's credentials.
    for url in [
        "http://169.254.169.254/",
        "http://metadata.google.internal/",
        "ftp://localhost/",
        "http://a:b@localhost/",
    ] {
        assert!(!told(url).contains("--egress-allow"), "{url}");
    }
}

fn opened(text: &str) -> anyhow::Result<Opened> {
    Ok(text.parse::<Allowed>()?.to)
}

#[test]
fn hosts_and_networks_are_told_apart() {
    assert!(matches!(opened("localhost:9000"), Ok(Opened::Host(_))));
    assert!(matches!(opened("[::1]:9000"), Ok(Opened::Host(_))));
    assert!(matches!(
        opened("10.0.0.0/8"),
        Ok(Opened::Network { port: None, .. })
    ));
    assert!(matches!(
        opened("fd00::/8:9000"),
        Ok(Opened::Network {
            port: Some(9000),
            ..
        })
    ));
    for wrong in ["localhost", "10.0.0.0/99", "10.0.0.0/8:x", ""] {
        assert!(opened(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn case_44_an_exception_may_be_for_one_team() {
    const TEAM: &str = "018f3f3e-0000-7000-8000-000000000001";
    let team: TeamId = TEAM.parse().unwrap();
    for to in [
        "hooks.internal:9000",
        "[::1]:9000",
        "10.0.0.0/8",
        "fd00::/8:9000",
    ] {
        let for_one: Allowed = format!("{TEAM}={to}").parse().unwrap();
        let for_all: Allowed = to.parse().unwrap();
        assert_eq!((for_one.team, for_all.team), (Some(team), None));
        assert_eq!(for_one.to, for_all.to);
        let options = EgressOptions {
            egress_allow: vec![for_one],
        };
        let policy = options.policy(None);
        let ranges = policy.ranges.iter().map(|range| range.team);
        let exempt = policy.exempt.iter().map(|exemption| exemption.team);
        assert_eq!(ranges.chain(exempt).collect::<Vec<_>>(), [Some(team)]);
    }
    for wrong in ["=10.0.0.0/8", "demo=localhost:9000", "=", TEAM] {
        assert!(wrong.parse::<Allowed>().is_err(), "{wrong:?}");
    }
    let told = format!(
        "{:#}",
        "demo=localhost:9000".parse::<Allowed>().unwrap_err()
    );
    assert!(told.contains("not the id of a team"), "{told}");
}

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
