//! `listen --forward`: the application gets the webhook unchanged, and Gatehouse gets the answer of
//! the application.

use std::sync::Mutex;

use super::*;

/// An application that answers with these bytes and keeps the requests.
struct Application {
    port: u16,
    asked: Arc<Mutex<Vec<u8>>>,
}

impl Application {
    async fn answering(answer: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<u8>>> = Arc::default();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                while !request.ends_with(BODY) {
                    request.push(stream.read_u8().await.unwrap());
                }
                *kept.lock().unwrap() = request;
                // A reader that has read enough closes the connection.
                let _ = stream.write_all(&answer).await;
            }
        });
        Self { port, asked }
    }

    fn receiver(&self) -> Receiver {
        forwarding(&format!("http://localhost:{}/hooks?from=test", self.port))
    }

    fn asked(&self) -> String {
        String::from_utf8(self.asked.lock().unwrap().clone()).unwrap()
    }
}

fn forwarding(url: &str) -> Receiver {
    Receiver {
        forward: Some(url.parse().unwrap()),
        ..receiver(1)
    }
}

#[tokio::test]
async fn the_application_gets_the_same_bytes_and_headers() {
    let answer = b"HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n".to_vec();
    let application = Application::answering(answer).await;
    let headers = signed(2, Some(1), now());
    assert_eq!(
        answer_of(application.receiver(), &headers, BODY).await,
        "HTTP/1.1 201 Created"
    );
    let asked = application.asked();
    let (head, body) = asked.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.as_bytes(), BODY);
    let mut lines: Vec<String> = head.split("\r\n").map(str::to_owned).collect();
    assert_eq!(lines.remove(0), "POST /hooks?from=test HTTP/1.1");
    let mut expected = vec![
        format!("host: localhost:{}", application.port),
        format!("content-length: {}", BODY.len()),
    ];
    let signatures = headers.iter();
    expected.extend(signatures.map(|(name, value)| format!("{}: {value}", name.to_lowercase())));
    lines.sort();
    expected.sort();
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn its_answer_comes_back_as_far_as_gatehouse_reads_it() {
    const MUCH: usize = 1 << 20;
    let head = format!(
        "HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-type: text/plain\r\nset-cookie: a=b\r\ncontent-length: {MUCH}\r\n\r\n"
    );
    let application = Application::answering([head.as_bytes(), &vec![b'x'; MUCH]].concat()).await;
    let answer = whole_answer_of(application.receiver(), &signed(1, None, now()), BODY).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 503 "), "{head}");
    assert!(head.contains("retry-after: 120") && head.contains("content-type: text/plain"));
    assert!(!head.contains("set-cookie"), "{head}");
    assert_eq!(body.len(), domain::webhook::READ_ANSWER_BYTES);
}

#[tokio::test]
async fn what_does_not_verify_is_not_passed_on() {
    let application = Application::answering(Vec::new()).await;
    let answer = answer_of(application.receiver(), &signed(2, None, now()), BODY).await;
    assert_eq!(answer, "HTTP/1.1 401 Unauthorized");
    assert_eq!(application.asked(), "");
}

#[tokio::test]
async fn an_application_that_is_not_there_or_no_server_is_a_bad_gateway() {
    // Bound, so that nobody else gets the port, and not listening.
    let nobody = tokio::net::TcpSocket::new_v4().unwrap();
    nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}/", nobody.local_addr().unwrap());
    let headers = signed(1, None, now());
    let target: Target = url.parse().unwrap();
    let map = header_map(&headers);
    let failure = target.forward(&map, Bytes::from_static(BODY));
    let failure = failure.await.unwrap_err().to_string();
    assert!(
        failure.starts_with(&format!("cannot connect to {url}: "))
            && failure.ends_with("is your application running?"),
        "{failure}"
    );
    let none = answer_of(forwarding(&url), &headers, BODY).await;
    assert_eq!(none, "HTTP/1.1 502 Bad Gateway");
    let application = Application::answering(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()).await;
    let broken = answer_of(application.receiver(), &headers, BODY).await;
    assert_eq!(broken, "HTTP/1.1 502 Bad Gateway");
}

#[tokio::test]
async fn an_application_that_hangs_is_a_gateway_timeout_before_gatehouse_gives_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let mut target: Target = url.parse().unwrap();
    assert!(target.deadline < domain::webhook::ATTEMPT_DEADLINE);
    target.deadline = Duration::from_secs(1);
    let receiver = Receiver {
        forward: Some(target),
        ..receiver(1)
    };
    let answer = answer_of(receiver, &signed(1, None, now()), BODY).await;
    assert_eq!(answer, "HTTP/1.1 504 Gateway Timeout");
}

#[test]
fn targets_are_local_applications() {
    for url in [
        "http://localhost:3000",
        "http://127.0.0.1:3000/a?b",
        "http://[::1]/",
    ] {
        assert!(url.parse::<Target>().is_ok(), "{url}");
    }
    for url in [
        "",
        "localhost:3000",
        "3000",
        "https://localhost/",
        "ftp://localhost/",
        "http://a:b@localhost/",
    ] {
        assert!(url.parse::<Target>().is_err(), "{url}");
    }
}
