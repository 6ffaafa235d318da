//! Redirects of a fetch: every hop is judged like the first URL.

use super::*;

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nimage";

/// A head that redirects to these places.
fn to(status: u16, locations: &[&str]) -> String {
    let locations: Vec<_> = locations
        .iter()
        .map(|location| format!("location: {location}\r\n"))
        .collect();
    let locations = locations.concat();
    format!("HTTP/1.1 {status} Moved\r\n{locations}content-length: 0\r\nconnection: close\r\n\r\n")
}

async fn redirecting(locations: &[&str]) -> Receiver {
    Receiver::answering(to(302, locations)).await
}

#[tokio::test]
async fn redirects_are_followed_to_the_file() {
    let last = Receiver::answering(OK).await;
    for status in [301, 302, 303, 307, 308] {
        let second = Receiver::answering(to(status, &[&last.url()])).await;
        let first = Receiver::answering(to(status, &[&second.url()])).await;
        let policy = exempting(&[&first.url(), &second.url(), &last.url()]);
        let file = fetch(&client(policy), &first.url()).await.unwrap();
        assert_eq!(file, b"image", "{status}");
    }
    let request = &last.requests()[0];
    assert!(request.starts_with("get /hook http/1.1\r\n"), "{request}");
    assert!(!request.contains("referer") && !request.contains("cookie"));
}

#[tokio::test]
async fn a_relative_location_is_relative_to_the_url_that_sent_it() {
    let receiver = Receiver::start_with(|path| match path {
        "/hook" => to(302, &["there"]),
        "/there" => to(302, &["//127.0.0.1:PORT/a?b#c"]),
        "/a?b" => OK.to_owned(),
        other => panic!("{other}"),
    })
    .await;
    let file = fetch(&client_of(&receiver), &receiver.url()).await;
    assert_eq!(file.unwrap(), b"image");
}

#[tokio::test]
async fn three_redirects_are_followed_and_a_loop_ends_with_the_fourth() {
    let receiver = redirecting(&["/hook"]).await;
    let answer = fetch(&client_of(&receiver), &receiver.url()).await;
    assert!(matches!(answer, Err(FetchError::Redirect)), "{answer:?}");
    assert_eq!(receiver.requests().len(), MAX_REDIRECTS + 1);
}

#[tokio::test]
async fn a_location_that_leads_nowhere_is_final() {
    for locations in [
        &[][..],
        &["http://"],
        &["http://exa mple/"],
        &["http://[::1"],
        &["\u{e9}"],
        &["http://1.1.1.1:99999/"],
        &["/one", "/other"],
    ] {
        let receiver = redirecting(locations).await;
        let error = fetch(&client_of(&receiver), &receiver.url()).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, FetchError::Redirect),
            "{locations:?} {error:?}"
        );
        assert!(!error.is_passing());
        assert_eq!(receiver.connections(), 1);
    }
}

#[tokio::test]
async fn case_24_every_place_in_the_table_is_refused_as_the_target_of_a_redirect_too() {
    let bystander = Receiver::answering(OK).await;
    let mut refused = 0;
    let port = bystander.port;
    let hosts = attacks::cases("hosts").into_iter();
    let hosts = hosts.map(|(reason, host)| (reason, format!("http://{host}:{port}/")));
    for (reason, url) in hosts.chain(attacks::cases("urls")) {
        // Without those that cannot be in a header or are not absolute URLs.
        let absolute = url::Url::parse(&url).is_ok();
        let header = url.bytes().all(|byte| (0x21..0x7f).contains(&byte));
        if !absolute || !header {
            continue;
        }
        let receiver = redirecting(&[&url]).await;
        let mut policy = exempting(&[&receiver.url()]);
        policy.ports.insert(port);
        match fetch(&client(policy), &receiver.url()).await {
            Err(FetchError::Outbound(OutboundError::Refused(refusal))) => {
                assert_eq!(refusal.label(), reason, "{url}");
            }
            // `http:127.0.0.1` is a relative URL when the base has the same scheme, so it leads to
            // the same host.
            other if !url.contains("//") => {
                assert!(other.is_err(), "{url}");
                continue;
            }
            other => panic!("{url}: {other:?}"),
        }
        refused += 1;
    }
    assert!(refused > 400, "{refused}");
    assert_eq!(bystander.connections(), 0);
}

#[tokio::test]
async fn case_24_a_name_that_changes_its_mind_between_hops_is_refused() {
    let receiver = redirecting(&["/again"]).await;
    let dns = ScriptedDns::new("attacker.test", [&["127.0.0.2"], &["127.0.0.1"]]);
    let outbound = client_asking(open_at("127.0.0.2", receiver.port), dns);
    let url = format!("http://attacker.test:{}/", receiver.port);
    let answer = fetch(&outbound, &url).await;
    assert!(
        matches!(
            answer,
            Err(FetchError::Outbound(OutboundError::Refused(
                Refusal::Loopback
            )))
        ),
        "{answer:?}"
    );
    assert_eq!(receiver.connections(), 1);
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let from = "https://example.test/".parse().unwrap();
    let to = |location: &'static str| {
        let value = HeaderValue::from_static(location);
        super::super::fetch::target(
            &from,
            &HeaderMap::from_iter([(hyper::header::LOCATION, value)]),
        )
    };
    let refused = to("http://example.test/");
    assert!(matches!(refused, Err(FetchError::Redirect)), "{refused:?}");
    for location in ["/there", "//other.test/", "https://other.test/"] {
        assert_eq!(to(location).unwrap().scheme(), "https");
    }
}

#[tokio::test]
async fn all_hops_share_one_deadline() {
    let receiver = Receiver::behaving(|mut stream| async move {
        tokio::time::sleep(Duration::from_secs(6)).await;
        let answer = to(302, &["/next"]);
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, answer.as_bytes()).await;
    })
    .await;
    // Enough for one hop on a busy machine, and not for two.
    let deadline = Duration::from_secs(11);
    let answer = fetch_within(&client_of(&receiver), &receiver.url(), deadline).await;
    assert!(
        matches!(answer, Err(FetchError::Outbound(OutboundError::Timeout))),
        "{answer:?}"
    );
    assert_eq!(receiver.connections(), 2);
}
