//! The service's demo site, and HTTP servers that tests control.

use std::{
    env, fs, mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use gatehouse_client::{Content, Gatehouse};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::{
    body::{Bytes, Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::TcpListener;

/// The demo site of `gatehouse up`, as demo.json tells it.
#[derive(Deserialize)]
pub(crate) struct Demo {
    base_url: String,
    pub(crate) site_key: String,
    pub(crate) webhook_secret: String,
}

impl Demo {
    pub(crate) fn read() -> Self {
        let path = env::var("GATEHOUSE_DEMO").expect("run by `make test-clients`");
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    pub(crate) fn url(&self) -> &str {
        self.base_url.strip_suffix("/functions/v1").unwrap()
    }

    pub(crate) fn client(&self) -> Gatehouse {
        Gatehouse::new(self.url(), &self.site_key).unwrap()
    }
}

/// A text that the demo site's rules reject.
pub(crate) fn forbidden() -> Content {
    Content {
        body: Some("so much blockedword in here".to_owned()),
        app_media_id: Some("comment-4711".to_owned()),
        ..Content::default()
    }
}

/// A request that was received.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

pub(crate) type Body = BoxBody<Bytes, &'static str>;

pub(crate) fn whole(body: impl Into<Bytes>) -> Body {
    let body = Full::new(body.into());
    body.map_err(|never| match never {}).boxed()
}

/// The connection breaks at its end.
pub(crate) fn broken(body: Bytes) -> Body {
    let body = Some(body);
    Broken { body, sent: false }.boxed()
}

struct Broken {
    body: Option<Bytes>,
    sent: bool,
}

impl hyper::body::Body for Broken {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(body) = self.body.take() {
            return Poll::Ready(Some(Ok(Frame::data(body))));
        }
        // Whatever is written is sent when there is nothing to write for a moment.
        if !mem::replace(&mut self.sent, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Err("the connection breaks")))
    }
}

/// A server on a port of 127.0.0.1, 0 being any free one. Without an answer, it closes the connection.
/// Returns the server's port.
pub(crate) async fn serve<A>(
    port: u16,
    answer: impl Fn(Received) -> A + Send + Sync + 'static,
) -> u16
where
    A: Future<Output = Option<Response<Body>>> + Send + 'static,
{
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    tokio::spawn(async move {
        loop {
            let (connection, _) = listener.accept().await.unwrap();
            let answer = Arc::clone(&answer);
            let service = service_fn(move |request: Request<Incoming>| {
                let answer = Arc::clone(&answer);
                async move {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await.map_err(|_| "a broken request")?;
                    let received = Received {
                        path: head.uri.path().to_owned(),
                        headers: head.headers,
                        body: body.to_bytes(),
                    };
                    answer(received).await.ok_or("the connection breaks")
                }
            });
            let served = http1::Builder::new().serve_connection(TokioIo::new(connection), service);
            tokio::spawn(served);
        }
    });
    port
}
