//! Answers, in the interface's format, to requests that hyper cannot read.
//!
//! hyper answers such a request itself: with a status, without a body and without an id. No handler
//! sees the request, so the answer is replaced where it is written. Afterwards, further data of the
//! client is read for a moment and dropped. Closing at once would reset the connection, and the
//! answer could be lost.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use metrics::counter;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::{BUFFER_BYTES, LINGER, LINGER_BYTES};
use crate::error_responses::{self, ErrorResponses, Fault};

const METRIC: &str = "gatehouse_http_unreadable_requests_total";
const HEAD_TOO_LARGE: &str = "head_too_large";
const INVALID_REQUEST: &str = "invalid_request";

/// hyper's answer to a head that is too large.
const TOO_LARGE: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n";
/// hyper's answer to a request that is not valid HTTP/1.1.
const MALFORMED: &[u8] = b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n";

/// A connection whose bare refusals are answered in the interface's format.
pub(super) struct MalformedRequests<S> {
    stream: S,
    errors: Arc<dyn ErrorResponses>,
    /// hyper has written only a part of an answer, so the next bytes do not begin an answer.
    in_the_middle: bool,
    refusal: Option<Written>,
    lingering: Option<(Pin<Box<Sleep>>, usize)>,
}

/// A refusal, and how much of it was written.
struct Written {
    bytes: Vec<u8>,
    count: usize,
}

/// Shown from the start: a counter that first appears with its first incident shows no increase.
pub(super) fn declare() {
    for code in [HEAD_TOO_LARGE, INVALID_REQUEST] {
        counter!(METRIC, "code" => code).increment(0);
    }
}

/// The replacement for `bytes`, if these are a bare refusal.
fn refusal(errors: &dyn ErrorResponses, bytes: &[u8]) -> Option<Written> {
    let (fault, code) = if bytes.starts_with(TOO_LARGE) {
        (Fault::HeadTooLarge(BUFFER_BYTES), HEAD_TOO_LARGE)
    } else if bytes.starts_with(MALFORMED) {
        (Fault::Malformed, INVALID_REQUEST)
    } else {
        return None;
    };
    counter!(METRIC, "code" => code).increment(1);
    let bytes = error_responses::raw(errors, fault);
    Some(Written { bytes, count: 0 })
}

impl<S> MalformedRequests<S> {
    pub(super) fn new(stream: S, errors: Arc<dyn ErrorResponses>) -> Self {
        Self {
            stream,
            errors,
            in_the_middle: false,
            refusal: None,
            lingering: None,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> MalformedRequests<S> {
    /// Writes `bytes`, or the answer in the interface's format instead. A replaced answer counts as written only
    /// when all of the other is. `bytes` are the first of `offered` bytes in total.
    fn poll_answer(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        offered: usize,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.refusal.is_none() && !self.in_the_middle {
            self.refusal = refusal(&*self.errors, bytes);
        }
        let stream = Pin::new(&mut self.stream);
        let Some(refusal) = &mut self.refusal else {
            let written = ready!(write(stream, cx))?;
            self.in_the_middle = written < offered;
            return Poll::Ready(Ok(written));
        };
        let stream = stream.get_mut();
        while let rest @ [_, ..] = &refusal.bytes[refusal.count..] {
            let written = ready!(Pin::new(&mut *stream).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Ok(0));
            }
            refusal.count += written;
        }
        Poll::Ready(Ok(bytes.len()))
    }

    /// Ready when the client has sent everything, or its time is over.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let (alarm, heard) = self
            .lingering
            .get_or_insert_with(|| (Box::pin(sleep(LINGER)), 0));
        while *heard < LINGER_BYTES && alarm.as_mut().poll(cx).is_pending() {
            let mut space = [0; 4 << 10];
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            *heard += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for MalformedRequests<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for MalformedRequests<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_answer(cx, bytes, bytes.len(), |stream, cx| {
            stream.poll_write(cx, bytes)
        })
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A head is one slice, and a refusal of hyper has only a head.
        let first = slices.first().map_or(&[][..], |slice| slice);
        let offered = slices.iter().map(|slice| slice.len()).sum();
        self.poll_answer(cx, first, offered, |stream, cx| {
            stream.poll_write_vectored(cx, slices)
        })
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        if self.refusal.is_some() {
            ready!(self.poll_linger(cx));
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::error_responses::tests::Plain;

    #[tokio::test]
    async fn a_part_of_a_long_answer_is_never_taken_for_a_refusal() {
        let answer = [b"0123456789", MALFORMED, b"\r\n"].concat();
        // The first ten bytes fit, and the rest looks like a refusal.
        let (ours, mut theirs) = tokio::io::duplex(10);
        let mut stream = MalformedRequests::new(ours, Arc::new(Plain));
        let sent = answer.clone();
        let sending = tokio::spawn(async move {
            stream.write_all(&sent).await.unwrap();
        });
        let mut got = Vec::new();
        theirs.read_to_end(&mut got).await.unwrap();
        sending.await.unwrap();
        assert_eq!(got, answer);
    }
}
