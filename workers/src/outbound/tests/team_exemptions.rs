//! What the operator opened for one team is closed to all others.

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const LONG: Duration = Duration::from_secs(30);

/// The receiver's host, by its address and by a name, and its network are open to [`TEAM`] alone.
fn policies(receiver: &Receiver) -> [EgressPolicy; 2] {
    let exempt = [receiver.url(), named(receiver)]
        .iter()
        .map(|url| Exemption {
            target: HostPort::of(&url.parse().unwrap()).unwrap(),
            team: Some(TEAM),
        })
        .collect();
    let range = AllowedRange {
        net: "127.0.0.1/32".parse().unwrap(),
        ports: BTreeSet::from([receiver.port]),
        team: Some(TEAM),
    };
    [
        EgressPolicy {
            exempt,
            ..EgressPolicy::default()
        },
        EgressPolicy {
            ranges: vec![range],
            ..EgressPolicy::default()
        },
    ]
}

fn named(receiver: &Receiver) -> String {
    format!("http://inner.test:{}/", receiver.port)
}

#[tokio::test]
async fn case_44_what_is_open_to_one_team_is_closed_to_others() {
    for is_range in [false, true] {
        let receiver = Receiver::answering(OK).await;
        let [exempt, range] = policies(&receiver);
        let policy = if is_range { range } else { exempt };
        let dns = ScriptedDns::new("inner.test", [&["127.0.0.1"]]);
        let outbound = client_asking(policy, dns);
        for (url, told) in [
            (receiver.url(), Refusal::Loopback),
            (named(&receiver), Refusal::Port),
        ] {
            let parsed = url.parse().unwrap();
            assert_eq!(outbound.policy().judge_url(TEAM, &parsed), Ok(()));
            assert_eq!(outbound.policy().judge_url(OTHER, &parsed), Err(told));
            // The first team's connection is idle when the other one asks.
            post(&outbound, &url).await.unwrap();
            let before = receiver.requests().len();
            let posted = post_as(OTHER, &outbound, &url, LONG).await;
            assert_eq!(refusal(posted), Refusal::Port, "{url}");
            let fetched = fetch_as(OTHER, &outbound, &url, LONG).await;
            assert!(matches!(
                fetched,
                Err(FetchError::Outbound(OutboundError::Refused(Refusal::Port)))
            ));
            assert_eq!(receiver.requests().len(), before);
            fetch(&outbound, &url).await.unwrap();
        }
    }
}

#[tokio::test]
async fn case_44_the_addresses_behind_a_name_are_judged_for_the_team_that_asks() {
    let receiver = Receiver::answering(OK).await;
    let [_, mut policy] = policies(&receiver);
    policy.ports.insert(receiver.port);
    let dns = ScriptedDns::new("inner.test", [&["127.0.0.1"]]);
    let outbound = client_asking(policy, dns);
    let url = named(&receiver);
    post(&outbound, &url).await.unwrap();
    let posted = post_as(OTHER, &outbound, &url, LONG).await;
    assert_eq!(refusal(posted), Refusal::Loopback);
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 1));
}

#[tokio::test]
async fn case_44_teams_share_no_connection() {
    let receiver = Receiver::answering(OK).await;
    let outbound = client_of(&receiver);
    for (team, connections) in [(TEAM, 1), (TEAM, 1), (OTHER, 2), (OTHER, 2), (TEAM, 2)] {
        let answer = post_as(team, &outbound, &receiver.url(), LONG).await;
        assert_eq!(answer.unwrap().status, 200);
        assert_eq!(receiver.connections(), connections);
    }
}
