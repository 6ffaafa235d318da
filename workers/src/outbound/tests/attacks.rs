//! Attempts to reach what is not public.

use serde_json::Value;

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

fn table() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/egress/addresses.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Pairs of a reason's label and a URL or host that is refused for it.
pub(super) fn cases(group: &str) -> Vec<(String, String)> {
    let table = table();
    let reasons = table[group].as_object().unwrap().iter();
    reasons
        .flat_map(|(reason, cases)| {
            let cases = cases.as_array().unwrap().iter();
            cases.map(|case| (reason.clone(), case.as_str().unwrap().to_owned()))
        })
        .collect()
}

/// The hosts among them that are plain IP addresses.
fn addresses() -> Vec<(String, IpAddr)> {
    let plain = |host: &str| {
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
            .parse()
            .ok()
    };
    cases("hosts")
        .into_iter()
        .filter_map(|(reason, host)| Some((reason, plain(&host)?)))
        .collect()
}

#[tokio::test]
async fn case_24_every_spelling_in_the_table_is_refused_and_nothing_is_sent() {
    let receiver = Receiver::answering(OK).await;
    let outbound = client(open(receiver.port));
    let port = receiver.port;
    let hosts = cases("hosts").into_iter();
    let hosts = hosts.map(|(reason, host)| (reason, format!("http://{host}:{port}/")));
    for (reason, url) in hosts.chain(cases("urls")) {
        for ask in Ask::ALL {
            let refusal = refusal(ask.of(&outbound, &url).await);
            assert_eq!(refusal.label(), reason, "{ask:?} {url}");
        }
    }
    assert_eq!(receiver.connections(), 0);

    for ask in Ask::ALL {
        let answer = ask.of(&client_of(&receiver), &receiver.url()).await;
        assert_eq!(answer.unwrap(), 200);
    }
    assert_eq!(
        receiver.connections(),
        2,
        "the receiver does count those that reach it"
    );
}

#[tokio::test]
async fn case_24_names_that_resolve_to_any_of_them_are_refused_alike_and_nothing_is_sent() {
    let receiver = Receiver::answering(OK).await;
    let addresses = addresses();
    let name = |index| format!("attacker-{index}.test");
    let script = addresses
        .iter()
        .enumerate()
        .map(|(i, (_, ip))| (name(i), vec![vec![*ip]]));
    let outbound = client_asking(open(receiver.port), ScriptedDns::of(script));
    for (index, (reason, ip)) in addresses.iter().enumerate() {
        let url = format!("http://{}:{}/", name(index), receiver.port);
        for ask in Ask::ALL {
            let refusal = refusal(ask.of(&outbound, &url).await);
            assert_eq!(refusal.label(), reason, "{ask:?} {ip}");
            assert_eq!(
                refusal.to_string(),
                "this address is not permitted",
                "whichever it is"
            );
        }
    }
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn case_24_public_neighbours_of_special_ranges_are_permitted() {
    let policy = EgressPolicy::default();
    for ip in table()["public"].as_array().unwrap() {
        let ip = ip.as_str().unwrap().parse().unwrap();
        assert_eq!(policy.judge(TEAM, ip, 443), Ok(()), "{ip}");
        assert_eq!(policy.judge(TEAM, ip, 22), Err(Refusal::Port), "{ip}");
    }
}

#[tokio::test]
async fn case_24_one_forbidden_answer_among_permitted_ones_refuses_them_all() {
    let receiver = Receiver::answering(OK).await;
    let url = format!("http://attacker.test:{}/", receiver.port);
    for answers in [["127.0.0.2", "127.0.0.1"], ["127.0.0.1", "127.0.0.2"]] {
        let dns = ScriptedDns::new("attacker.test", [&answers]);
        let outbound = client_asking(open_at("127.0.0.2", receiver.port), dns);
        for ask in Ask::ALL {
            assert_eq!(refusal(ask.of(&outbound, &url).await), Refusal::Loopback);
        }
    }
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn case_24_a_name_that_changes_its_mind_is_refused_at_the_next_connection() {
    let receiver =
        Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .await;
    let url = format!("http://attacker.test:{}/", receiver.port);
    for (ask, connections) in Ask::ALL.into_iter().zip(1..) {
        let dns = ScriptedDns::new("attacker.test", [&["127.0.0.2"], &["127.0.0.1"]]);
        let outbound = client_asking(open_at("127.0.0.2", receiver.port), dns);
        assert_eq!(ask.of(&outbound, &url).await.unwrap(), 200);
        assert_eq!(refusal(ask.of(&outbound, &url).await), Refusal::Loopback);
        assert_eq!(receiver.connections(), connections);
    }
}

#[tokio::test]
async fn an_opened_range_is_open_on_its_ports_only() {
    let (receiver, other) = (Receiver::answering(OK).await, Receiver::answering(OK).await);
    let mut policy = open_at("127.0.0.1", receiver.port);
    policy.ranges.push(AllowedRange {
        net: "127.0.0.2/32".parse().unwrap(),
        ports: BTreeSet::from([other.port]),
        team: None,
    });
    assert_eq!(
        policy.judge(TEAM, "1.1.1.1".parse().unwrap(), receiver.port),
        Err(Refusal::Port)
    );
    let outbound = client(policy);
    for ask in Ask::ALL {
        assert_eq!(ask.of(&outbound, &receiver.url()).await.unwrap(), 200);
        let refusal = refusal(ask.of(&outbound, &other.url()).await);
        assert_eq!(refusal, Refusal::Loopback);
    }
    assert_eq!(other.connections(), 0);
}

#[test]
fn metadata_addresses_stay_closed_inside_an_opened_range() {
    let everything = ["0.0.0.0/0", "::/0"].map(|net| AllowedRange {
        net: net.parse().unwrap(),
        ports: BTreeSet::from([80]),
        team: None,
    });
    let policy = EgressPolicy {
        ranges: everything.into(),
        ..EgressPolicy::default()
    };
    let (closed, opened): (Vec<_>, Vec<_>) = addresses()
        .into_iter()
        .partition(|(reason, _)| reason == "metadata");
    for (_, ip) in closed {
        assert_eq!(policy.judge(TEAM, ip, 80), Err(Refusal::Metadata), "{ip}");
    }
    for (_, ip) in opened {
        assert_eq!(policy.judge(TEAM, ip, 80), Ok(()), "{ip}");
    }
}

#[tokio::test]
async fn an_exemption_is_for_exactly_one_host_and_port() {
    let (receiver, other) = (Receiver::answering(OK).await, Receiver::answering(OK).await);
    let dns = ScriptedDns::new("hook.test", [&["127.0.0.1"]]);
    let exempt = format!("http://hook.test:{}", receiver.port);
    let mut policy = exempting(&[&exempt]);
    policy.ports.extend([receiver.port, other.port]);
    let outbound = client_asking(policy, dns);

    for url in [format!("{exempt}/any/path?query"), exempt.to_uppercase()] {
        for ask in Ask::ALL {
            assert_eq!(ask.of(&outbound, &url).await.unwrap(), 200, "{url}");
        }
    }
    let (port, reached) = (receiver.port, receiver.connections());
    for url in [
        format!("http://hook.test:{}/", other.port),
        format!("http://127.0.0.1:{port}/"),
        format!("http://user@hook.test:{port}/"),
        format!("ftp://hook.test:{port}/"),
    ] {
        for ask in Ask::ALL {
            refusal(ask.of(&outbound, &url).await);
        }
    }
    for name in ["hook.test.", "a.hook.test"] {
        for ask in Ask::ALL {
            let answer = ask.of(&outbound, &format!("http://{name}:{port}/")).await;
            assert!(
                matches!(answer, Err(OutboundError::Connect(_))),
                "{answer:?}"
            );
        }
    }
    assert_eq!((receiver.connections(), other.connections()), (reached, 0));
}

#[tokio::test]
async fn a_redirect_of_a_post_is_an_answer_and_its_target_is_not_visited() {
    let target = Receiver::answering(OK).await;
    for status in [301, 302, 303, 307, 308] {
        let receiver = Receiver::answering(format!(
            "HTTP/1.1 {status} Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
            target.url()
        ))
        .await;
        let outbound = client(exempting(&[&receiver.url(), &target.url()]));
        assert_eq!(
            post(&outbound, &receiver.url()).await.unwrap().status,
            status
        );
    }
    assert_eq!(target.connections(), 0);
}

/// The environment can only be set for a new process, so this test runs itself in one.
#[tokio::test]
async fn case_24_proxy_variables_are_ignored() {
    const TARGET: &str = "GATEHOUSE_TEST_PROXY_TARGET";
    const PROXIES: [&str; 6] = [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ];
    if let Ok(target) = std::env::var(TARGET) {
        let outbound = client(exempting(&[&target]));
        for ask in Ask::ALL {
            assert_eq!(ask.of(&outbound, &target).await.unwrap(), 200);
        }
        return;
    }
    let (receiver, proxy) = (Receiver::answering(OK).await, Receiver::answering(OK).await);
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args([
        "--exact",
        "outbound::tests::attacks::case_24_proxy_variables_are_ignored",
    ]);
    child.env_remove("NO_PROXY").env_remove("no_proxy");
    child.envs(PROXIES.map(|variable| (variable, format!("http://127.0.0.1:{}", proxy.port))));
    let status = child.env(TARGET, receiver.url()).status().await.unwrap();
    assert!(status.success());
    assert_eq!((receiver.connections(), proxy.connections()), (2, 0));
}
