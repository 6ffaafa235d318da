//! Servers that stall, flood, lie or break while a file is fetched from them.

use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};

use super::*;

const SHORT: Duration = Duration::from_millis(400);

async fn fetched(answer: impl AsRef<[u8]>) -> Result<Vec<u8>, FetchError> {
    let receiver = Receiver::answering(answer).await;
    fetch(&client_of(&receiver), &receiver.url()).await
}

fn with_body(body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn a_file_comes_whole_up_to_the_limit_and_not_at_all_beyond() {
    let file = vec![b'x'; LIMIT + 1];
    assert_eq!(fetched(with_body(&file[1..])).await.unwrap(), file[1..]);
    let error = fetched(with_body(&file)).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge) && !error.is_passing());

    // Without a length that would reveal the size.
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
    for (bytes, fits) in [(&file[1..], true), (&file[..], false)] {
        let answer = [head.clone(), bytes.to_vec()].concat();
        let answer = Arc::new(answer);
        let receiver = Receiver::behaving(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                let _ = stream.write_all(&answer).await;
            }
        })
        .await;
        let fetched = fetch(&client_of(&receiver), &receiver.url()).await;
        match fetched {
            Ok(file) => assert!(fits && file == bytes),
            Err(error) => assert!(!fits && matches!(error, FetchError::TooLarge), "{error:?}"),
        }
    }
}

#[tokio::test]
async fn an_endless_file_is_left_at_the_limit() {
    const ENDLESS: usize = 1 << 30;
    for head in [
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned(),
        format!("HTTP/1.1 200 OK\r\ncontent-length: {ENDLESS}\r\n\r\n"),
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40000000\r\n".to_owned(),
    ] {
        let (report, sent) = tokio::sync::oneshot::channel();
        let report = Arc::new(Mutex::new(Some(report)));
        let receiver = Receiver::behaving(move |mut stream| {
            let (report, head) = (Arc::clone(&report), head.clone());
            async move {
                stream.write_all(head.as_bytes()).await.unwrap();
                let (chunk, mut sent) = (vec![b'x'; 64 * 1024], 0);
                while sent < ENDLESS && stream.write_all(&chunk).await.is_ok() {
                    sent += chunk.len();
                }
                report.lock().unwrap().take().unwrap().send(sent).unwrap();
            }
        })
        .await;
        let answer = fetch(&client_of(&receiver), &receiver.url()).await;
        assert!(matches!(answer, Err(FetchError::TooLarge)), "{answer:?}");
        let sent = sent.await.unwrap();
        assert!(sent < 32 << 20, "only socket buffers fill: {sent}");
    }
}

#[tokio::test]
async fn what_is_compressed_is_refused_and_was_not_asked_for() {
    for encoding in [
        "gzip",
        "br",
        "zstd",
        "deflate",
        "GZIP",
        "identity, gzip",
        "x",
    ] {
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ncontent-length: 4\r\n\r\nbomb"
        );
        let receiver = Receiver::answering(answer).await;
        let error = fetch(&client_of(&receiver), &receiver.url()).await;
        let error = error.unwrap_err();
        assert!(matches!(error, FetchError::Encoded), "{error:?}");
        assert!(!error.is_passing());
        assert!(receiver.requests()[0].contains("accept-encoding: identity\r\n"));
    }
    let plain = "HTTP/1.1 200 OK\r\ncontent-encoding: Identity\r\ncontent-length: 4\r\n\r\nfile";
    assert_eq!(fetched(plain).await.unwrap(), b"file");
}

#[tokio::test]
async fn only_200_counts_and_some_others_may_pass() {
    for (status, passing) in [
        (201, false),
        (204, false),
        (206, false),
        (300, false),
        (304, false),
        (400, false),
        (401, false),
        (403, false),
        (404, false),
        (410, false),
        (408, true),
        (425, true),
        (429, true),
        (500, true),
        (503, true),
        (599, true),
    ] {
        let length = if matches!(status, 204 | 304) {
            ""
        } else {
            "content-length: 0\r\n"
        };
        let answer = format!("HTTP/1.1 {status} X\r\nretry-after: 7\r\n{length}\r\n");
        let error = fetched(answer).await.unwrap_err();
        assert_eq!(error.is_passing(), passing, "{status}");
        let FetchError::Status {
            status: told,
            retry_after,
        } = error
        else {
            panic!("{status}: {error:?}")
        };
        assert_eq!((told, retry_after.as_deref()), (status, Some("7")));
    }
}

#[tokio::test]
async fn what_breaks_off_is_no_file_and_may_pass() {
    for answer in [
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nshort",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nshort\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\nshort",
    ] {
        let receiver = Receiver::behaving(move |mut stream| async move {
            stream.write_all(answer.as_bytes()).await.unwrap();
        })
        .await;
        let error = fetch(&client_of(&receiver), &receiver.url()).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, FetchError::Outbound(OutboundError::Protocol(_))),
            "{answer} {error:?}"
        );
        assert!(error.is_passing());
        assert_eq!(
            receiver.connections(),
            1,
            "a fetch is repeated by its schedule only"
        );
    }
}

#[tokio::test]
async fn silence_and_drips_end_at_the_deadline() {
    async fn drip(mut stream: TcpStream, head: &'static [u8]) {
        for byte in head.iter().chain([b'x'].iter().cycle()) {
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
            sleep(SHORT / 40).await;
        }
    }
    let silent = Receiver::behaving(|stream| async move {
        sleep(SHORT * 10).await;
        drop(stream);
    })
    .await;
    let head = Receiver::behaving(|s| drip(s, b"HTTP/1.1 200 OK\r\nx: ")).await;
    let body =
        Receiver::behaving(|s| drip(s, b"HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n")).await;
    for receiver in [silent, head, body] {
        let error = fetch_within(&client_of(&receiver), &receiver.url(), SHORT).await;
        let error = error.unwrap_err();
        assert!(
            matches!(error, FetchError::Outbound(OutboundError::Timeout)),
            "{error:?}"
        );
        assert!(error.is_passing());
    }
}
