//! Sends a POST, and reads and keeps the beginning of the answer.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use domain::webhook::{KEPT_ANSWER_BYTES, READ_ANSWER_BYTES};
use http_body_util::Full;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::HeaderMap,
};
use tokio::time::timeout;
use tokio_util::task::AbortOnDropHandle;
use url::Url;

use super::{
    Admitted, Inner, Outbound, OutboundError, Refusal, Socket, blocked, connection::Connection,
    request, retry_after,
};

/// A POST request.
#[derive(Debug)]
pub struct Post<'a> {
    /// The URL, as the tenant wrote it.
    pub url: &'a str,
    /// All headers except `Host` and `Content-Length`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The time for everything: resolving, connecting, sending and receiving.
    pub deadline: Duration,
}

/// What a receiver answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The header `Retry-After`, when it is text.
    pub retry_after: Option<String>,
    /// The first [`KEPT_ANSWER_BYTES`] of the body as they came over the wire.
    pub body: Vec<u8>,
}

impl Outbound {
    /// Sends one request for the team that has `socket` and reads the answer, whatever its status.
    pub async fn post(&self, socket: Socket, post: Post<'_>) -> Result<Answer, OutboundError> {
        let answer = self.exchange(socket, post).await;
        if let Err(OutboundError::Refused(reason)) = &answer {
            blocked(*reason).increment(1);
        }
        answer
    }

    async fn exchange(&self, socket: Socket, post: Post<'_>) -> Result<Answer, OutboundError> {
        let url = Url::parse(post.url).map_err(|_| OutboundError::Refused(Refusal::Url))?;
        let inner = Arc::clone(&self.0);
        let route = inner.admit(&socket, &url)?;
        let request = request(Method::POST, &url, post.headers, post.body)?;
        // In a separate task: all deliveries of a process run in one task, and TLS needs processor
        // time.
        let exchange = tokio::spawn(timeout(post.deadline, async move {
            inner.post(&socket, route, request).await
        }));
        match AbortOnDropHandle::new(exchange).await {
            Ok(answer) => answer.unwrap_or(Err(OutboundError::Timeout)),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down, and nobody will read this.
                Err(_) => Err(OutboundError::Timeout),
            },
        }
    }
}

impl Inner {
    async fn post(
        &self,
        socket: &Socket,
        route: Admitted,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, OutboundError> {
        while let Some(mut connection) = self.idle.take(socket.team(), &route.origin) {
            if !connection.is_free().await {
                continue;
            }
            match connection.send(request).await {
                Ok(response) => return self.answer(socket, route, connection, response).await,
                Err(mut error) => match error.take_message() {
                    // The connection was closed before anything was sent.
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let mut connection = self.connect(socket, &route).await?;
        let response = connection.send(request).await;
        let response = response.map_err(|error| OutboundError::from(error.into_error()))?;
        self.answer(socket, route, connection, response).await
    }

    /// Reads the answer, and keeps the connection if the whole answer was read.
    async fn answer(
        &self,
        socket: &Socket,
        route: Admitted,
        mut connection: Connection,
        response: Response<Incoming>,
    ) -> Result<Answer, OutboundError> {
        let (head, mut body) = response.into_parts();
        let (mut kept, mut read, mut is_over) = (Vec::new(), 0, body.is_end_stream());
        while !is_over && read < READ_ANSWER_BYTES {
            if let Some(chunk) = connection.chunk(&mut body).await? {
                read += chunk.len();
                let room = KEPT_ANSWER_BYTES - kept.len();
                kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            } else {
                is_over = true;
            }
        }
        drop(body);
        if is_over && connection.is_free().await {
            self.idle.put(socket.team(), route.origin, connection);
        }
        Ok(Answer {
            status: head.status.as_u16(),
            retry_after: retry_after(&head.headers),
            body: kept,
        })
    }
}
