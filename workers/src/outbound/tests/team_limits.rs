//! What one team can use up at the expense of others: connections in use, idle connections, and
//! threads for lookups.

use std::sync::{Condvar, mpsc};

use futures::future::join_all;
use tokio::{task::JoinSet, time::sleep};

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const LONG: Duration = Duration::from_secs(30);

/// Every address of 127.0.0.0/8 leads to the same receiver, so the tests have any number of hosts.
fn many_hosts(port: u16, bounds: Bounds) -> Outbound {
    let range = AllowedRange {
        net: "127.0.0.0/8".parse().unwrap(),
        ports: BTreeSet::from([port]),
        team: None,
    };
    let policy = EgressPolicy {
        ranges: vec![range],
        ..EgressPolicy::default()
    };
    Outbound::new(policy, bounds)
}

fn host(n: usize, port: u16) -> String {
    format!("http://127.1.{}.{}:{port}/", n / 250, n % 250 + 1)
}

/// Waits less than the time after which idle connections are closed.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < LONG / 2, "{what}");
        sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn case_39_idle_connections_are_bounded_over_all_hosts() {
    const IDLE: usize = 20;
    let receiver = Receiver::answering(OK).await;
    let bounds = Bounds {
        idle: IDLE,
        ..Bounds::default()
    };
    let outbound = many_hosts(receiver.port, bounds);
    for n in 0..500 {
        let url = host(n, receiver.port);
        post(&outbound, &url).await.unwrap();
        if n % 50 == 49 {
            until("the others are closed", || receiver.open() <= IDLE).await;
        }
    }
    assert_eq!((receiver.connections(), receiver.open()), (500, IDLE));
    // Those used last are kept.
    for n in 500 - IDLE..500 {
        post(&outbound, &host(n, receiver.port)).await.unwrap();
    }
    assert_eq!(receiver.connections(), 500);
}

#[tokio::test]
async fn case_39_the_team_with_most_idle_connections_makes_room_for_others() {
    let receiver = Receiver::answering(OK).await;
    let bounds = Bounds {
        idle: 20,
        ..Bounds::default()
    };
    let outbound = many_hosts(receiver.port, bounds);
    let hosts = |of: std::ops::Range<usize>| of.map(|n| host(n, receiver.port));
    for url in hosts(0..20) {
        post(&outbound, &url).await.unwrap();
    }
    for round in 0..3 {
        for url in hosts(0..8) {
            post_as(OTHER, &outbound, &url, LONG).await.unwrap();
        }
        // The first team goes on to other hosts.
        for url in hosts(100 * round + 100..100 * round + 150) {
            post(&outbound, &url).await.unwrap();
        }
    }
    let expected = 20 + 8 + 3 * 50;
    assert_eq!(
        receiver.connections(),
        expected,
        "the other team's eight are kept"
    );
}

#[tokio::test]
async fn case_39_a_busy_endpoint_keeps_as_many_connections_as_it_uses() {
    let receiver = Receiver::answering(OK).await;
    let outbound = client_of(&receiver);
    for _ in 0..10 {
        let url = receiver.url();
        let requests = (0..32).map(|_| post(&outbound, &url));
        assert!(join_all(requests).await.iter().all(Result::is_ok));
    }
    assert_eq!(receiver.requests().len(), 320);
    assert!(receiver.connections() <= 32, "{}", receiver.connections());
}

#[tokio::test]
async fn case_39_fetching_keeps_no_connection() {
    let receiver = Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nimage").await;
    let outbound = client_of(&receiver);
    for _ in 0..5 {
        fetch(&outbound, &receiver.url()).await.unwrap();
    }
    assert_eq!(receiver.connections(), 5);
    until("all are closed", || receiver.open() == 0).await;
    assert!(receiver.requests()[0].contains("\r\nconnection: close\r\n"));
}

#[tokio::test]
async fn case_39_receivers_that_never_answer_take_their_own_teams_share() {
    let silent = Receiver::behaving(|stream| async move {
        sleep(LONG * 10).await;
        drop(stream);
    })
    .await;
    let well = Receiver::answering(OK).await;
    let policy = exempting(&[&silent.url(), &well.url()]);
    let bounds = Bounds {
        connections: 8,
        ..Bounds::default()
    };
    let outbound = Outbound::new(policy, bounds);
    let mut attacks = JoinSet::new();
    for n in 0..20 {
        let (outbound, url) = (outbound.clone(), silent.url());
        attacks.spawn(async move {
            match n % 2 {
                0 => post_within(&outbound, &url, LONG * 10).await.map(drop),
                _ => match fetch_within(&outbound, &url, LONG * 10).await {
                    Err(FetchError::Outbound(error)) => Err(error),
                    other => panic!("{other:?}"),
                },
            }
        });
    }
    until("a half is taken", || silent.connections() == 4).await;
    for _ in 0..20 {
        let answer = post_as(OTHER, &outbound, &well.url(), LONG).await;
        assert_eq!(answer.unwrap().status, 200);
    }
    // The others give up after a while. Nothing was sent, so this is not the receiver's fault.
    for _ in 0..16 {
        let ended = attacks.join_next().await.unwrap().unwrap();
        assert!(matches!(ended, Err(OutboundError::Busy(_))), "{ended:?}");
    }
    assert_eq!((attacks.len(), silent.connections()), (4, 4));
}

#[tokio::test]
async fn case_39_names_that_never_resolve_take_their_own_teams_lookups() {
    let receiver = Receiver::answering(OK).await;
    let (began, beginnings) = mpsc::channel();
    let over = Arc::new((Mutex::new(false), Condvar::new()));
    let end = Arc::clone(&over);
    let resolver: Arc<Resolver> = Arc::new(move |name: &str| {
        if name.starts_with("slow") {
            began.send(()).unwrap();
            let (is_over, told) = &*over;
            drop(told.wait_while(is_over.lock().unwrap(), |is_over| !*is_over));
            return Err(io::Error::other("nobody answered"));
        }
        Ok(vec!["127.0.0.2".parse().unwrap()])
    });
    let bounds = Bounds {
        lookups: 4,
        ..Bounds::default()
    };
    let policy = open_at("127.0.0.2", receiver.port);
    let outbound = Outbound::with_resolver(policy, bounds, resolver);
    let (short, port) = (Duration::from_millis(300), receiver.port);
    for round in 0..2 {
        let urls: Vec<_> = (0..20)
            .map(|n| format!("http://slow-{round}-{n}.test:{port}/"))
            .collect();
        let attacks = urls.iter().map(|url| post_within(&outbound, url, short));
        for ended in join_all(attacks).await {
            assert!(matches!(ended, Err(OutboundError::Timeout)), "{ended:?}");
        }
    }
    let url = format!("http://well.test:{port}/");
    let answer = post_as(OTHER, &outbound, &url, LONG).await;
    assert_eq!(answer.unwrap().status, 200);
    let began = beginnings.try_iter().count();
    *end.0.lock().unwrap() = true;
    end.1.notify_all();
    assert_eq!(
        began, 2,
        "nobody waits for them any more, but they block their threads still"
    );
}
