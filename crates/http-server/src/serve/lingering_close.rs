//! Bodies that nobody reads to their end.
//!
//! A request can be refused before its body has been read. If the server closed at once, the
//! connection of a client that is still sending would be reset, and the answer lost. So the rest of
//! the body is read for a moment and dropped.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap,
    body::{Body, Frame, Incoming, SizeHint},
    header,
};
use tokio::{runtime::Handle, time::timeout};

/// How long the rest of a body is read.
pub(super) const LINGER: Duration = Duration::from_secs(2);
/// How much of it is read: enough for any honest body.
pub(super) const LINGER_BYTES: usize = 64 << 20;

/// A request's body.
pub(super) struct Lingering {
    body: Option<Incoming>,
    /// The client waits for a `100 Continue`, which the first read sends, before it sends anything. If nobody reads, it
    /// gets its refusal instead and keeps the body.
    waits: bool,
}

impl Lingering {
    pub(super) fn new(body: Incoming, headers: &HeaderMap) -> Self {
        let expected = headers.get(header::EXPECT);
        Self {
            body: Some(body),
            waits: expected
                .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue")),
        }
    }
}

impl Body for Lingering {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.waits = false;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(cx);
        frame.map_err(io::Error::other)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let rest = self
            .body
            .take()
            .filter(|body| !self.waits && !body.is_end_stream());
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            runtime.spawn(discard(rest));
        }
    }
}

async fn discard(mut body: Incoming) {
    let rest = async {
        let mut discarded = 0;
        while discarded < LINGER_BYTES
            && let Some(Ok(frame)) = body.frame().await
        {
            discarded += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // It has ended, or its time is over.
    let _ = timeout(LINGER, rest).await;
}
