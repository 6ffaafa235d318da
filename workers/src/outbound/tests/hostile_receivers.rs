//! Receivers that stall, flood, lie or break.

use std::{io::Read, net::TcpListener};

use domain::webhook::KEPT_ANSWER_BYTES;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};

use super::*;

/// Long enough to connect, however busy the machine is.
const SHORT: Duration = Duration::from_secs(3);

async fn assert_ends_at_the_deadline(receiver: Receiver) {
    let started = Instant::now();
    // A receiver that ends by itself would be another error.
    let answer = post_within(&client_of(&receiver), &receiver.url(), SHORT).await;
    assert!(matches!(answer, Err(OutboundError::Timeout)), "{answer:?}");
    assert!(started.elapsed() >= SHORT, "{:?}", started.elapsed());
    assert_eq!(receiver.connections(), 1);
}

async fn drip(mut stream: TcpStream, bytes: &'static [u8]) {
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        sleep(SHORT / 10).await;
    }
}

#[tokio::test]
async fn silence_after_the_request_ends_at_the_deadline() {
    assert_ends_at_the_deadline(
        Receiver::behaving(|stream| async move {
            sleep(SHORT * 10).await;
            drop(stream);
        })
        .await,
    )
    .await;
}

#[tokio::test]
async fn a_head_that_drips_ends_at_the_deadline() {
    assert_ends_at_the_deadline(Receiver::behaving(|s| drip(s, b"HTTP/1.1 200 OK\r\nx: ")).await)
        .await;
}

#[tokio::test]
async fn a_body_that_drips_ends_at_the_deadline() {
    assert_ends_at_the_deadline(
        Receiver::behaving(|mut stream| async move {
            stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")
                .await
                .unwrap();
            drip(stream, b"x").await;
        })
        .await,
    )
    .await;
}

#[tokio::test]
async fn a_resolver_that_hangs_ends_at_the_deadline() {
    let hanging = Arc::new(|_: &str| {
        std::thread::sleep(SHORT * 2);
        Err(io::Error::other("nobody answered"))
    });
    let outbound = client_asking(EgressPolicy::default(), hanging);
    let answer = post_within(&outbound, "http://slow.test/", SHORT).await;
    assert!(matches!(answer, Err(OutboundError::Timeout)), "{answer:?}");
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_the_limit_and_no_further() {
    const ENDLESS: usize = 1 << 30;
    let (report, sent) = tokio::sync::oneshot::channel();
    let report = Arc::new(Mutex::new(Some(report)));
    let receiver = Receiver::behaving(move |mut stream| {
        let report = Arc::clone(&report);
        async move {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {ENDLESS}\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let (chunk, mut sent) = (vec![b'x'; 64 * 1024], 0);
            while sent < ENDLESS && stream.write_all(&chunk).await.is_ok() {
                sent += chunk.len();
            }
            report.lock().unwrap().take().unwrap().send(sent).unwrap();
        }
    })
    .await;
    let answer = post(&client_of(&receiver), &receiver.url()).await.unwrap();
    assert_eq!((answer.status, answer.body.len()), (200, KEPT_ANSWER_BYTES));
    let sent = sent.await.unwrap();
    assert!(sent < 32 << 20, "only socket buffers fill: {sent}");
}

#[tokio::test]
async fn a_compressed_body_is_neither_asked_for_nor_unpacked() {
    let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xed, 0xc1, 1, 1];
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        bomb.len()
    )
    .into_bytes();
    answer.extend(bomb);
    let receiver = Receiver::answering(answer).await;
    let answer = post(&client_of(&receiver), &receiver.url()).await.unwrap();
    assert_eq!(answer.body, bomb);
    assert!(!receiver.requests()[0].contains("accept-encoding"));
}

#[tokio::test]
async fn an_answer_carries_status_retry_after_and_body() {
    let receiver = Receiver::answering(
        "HTTP/1.1 503 Busy\r\nretry-after: 120\r\ncontent-length: 5\r\n\r\nlater",
    )
    .await;
    let answer = post(&client_of(&receiver), &receiver.url()).await.unwrap();
    assert_eq!(
        (answer.status, answer.retry_after.as_deref()),
        (503, Some("120"))
    );
    assert_eq!(answer.body, b"later");
}

#[tokio::test]
async fn connections_are_reused() {
    let receiver = Receiver::answering("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let outbound = client_of(&receiver);
    for _ in 0..5 {
        post(&outbound, &receiver.url()).await.unwrap();
    }
    assert_eq!((receiver.connections(), receiver.requests().len()), (1, 5));
}

#[tokio::test]
async fn connections_are_reused_after_answers_of_any_framing_and_up_to_some_length() {
    let long = format!(
        "HTTP/1.1 500 No\r\ncontent-length: 9000\r\n\r\n{}",
        "x".repeat(9_000)
    );
    for answer in [
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: y\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        &long,
    ] {
        let receiver = Receiver::answering(answer).await;
        let outbound = client_of(&receiver);
        for _ in 0..3 {
            post(&outbound, &receiver.url()).await.unwrap();
        }
        assert_eq!(receiver.connections(), 1, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_the_receiver_closed_is_not_used_again() {
    let receiver = Receiver::behaving(|mut stream| async move {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
    })
    .await;
    let outbound = client_of(&receiver);
    for connections in 1..4 {
        post(&outbound, &receiver.url()).await.unwrap();
        assert_eq!(receiver.connections(), connections);
        while receiver.open() > 0 {
            sleep(SHORT / 40).await;
        }
    }
}

#[tokio::test]
async fn broken_answers_are_protocol_errors() {
    for answer in [
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",
    ] {
        let receiver = Receiver::behaving(move |mut stream| async move {
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let answer = post(&client_of(&receiver), &receiver.url()).await;
        assert!(
            matches!(answer, Err(OutboundError::Protocol(_))),
            "{answer:?}"
        );
        assert_eq!(
            receiver.connections(),
            1,
            "a delivery is repeated by its schedule only"
        );
    }
}

#[tokio::test]
async fn nobody_listening_and_unknown_names_are_connect_errors_without_detail() {
    // Bound, so that nobody else gets the port, and not listening.
    let nobody = tokio::net::TcpSocket::new_v4().unwrap();
    nobody.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let free = nobody.local_addr().unwrap();
    let dns = ScriptedDns::new("hook.test", [&["127.0.0.1"]]);
    let url = format!("http://hook.test:{}/", free.port());
    let outbound = client_asking(exempting(&[&url]), dns);
    for url in [url.as_str(), "http://unknown.test/"] {
        let error = post(&outbound, url).await.unwrap_err();
        assert!(matches!(error, OutboundError::Connect(_)), "{error:?}");
        assert_eq!(error.to_string(), "the connection could not be established");
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_vouches_for_is_refused_before_anything_is_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "https://localhost:{}/",
        listener.local_addr().unwrap().port()
    );
    let receiver = std::thread::spawn(move || {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key =
            rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let (socket, _) = listener.accept().unwrap();
        let session = rustls::ServerConnection::new(Arc::new(config)).unwrap();
        let mut received = Vec::new();
        let ended = rustls::StreamOwned::new(session, socket).read_to_end(&mut received);
        (ended.is_err(), received)
    });
    let answer = post(&client(exempting(&[&url])), &url).await;
    assert!(matches!(answer, Err(OutboundError::Tls(_))), "{answer:?}");
    assert_eq!(receiver.join().unwrap(), (true, Vec::new()));
}
