//! Fetches a file from an address that a tenant chose: by GET, as a whole or not at all.

use std::time::Duration;

use bytes::Bytes;
use hyper::{
    Method, StatusCode,
    body::{Body as _, Incoming},
    header::{
        ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION,
        USER_AGENT,
    },
};
use url::Url;

use super::{Connection, Outbound, OutboundError, Refusal, Socket, blocked, request, retry_after};

/// The most redirects that are followed.
pub const MAX_REDIRECTS: usize = 3;

/// A file to fetch.
#[derive(Clone, Copy, Debug)]
pub struct Fetch<'a> {
    /// Its URL, as the tenant wrote it.
    pub url: &'a str,
    /// The header `Accept`.
    pub accept: &'static str,
    /// The most bytes. A larger file is an error.
    pub limit: usize,
    /// The time for everything, redirects included.
    pub deadline: Duration,
}

/// Why there is no file.
///
/// Its `Display` form may be shown to the tenant: it says only what the tenant's own server knows.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// There is no complete answer.
    #[error(transparent)]
    Outbound(#[from] OutboundError),
    /// The answer is not a 200.
    #[error("the server answered {status}")]
    Status {
        /// The HTTP status code.
        status: u16,
        /// The header `Retry-After`, when it is text.
        retry_after: Option<String>,
    },
    /// A redirect without a URL, from https to http, or one too many.
    #[error("the redirect cannot be followed")]
    Redirect,
    /// It is compressed, although that was not requested. Its size would be known only after
    /// unpacking.
    #[error("the file came with a content encoding")]
    Encoded,
    /// It is larger than the limit.
    #[error("the file is too large")]
    TooLarge,
}

impl FetchError {
    /// Whether the same request may succeed some seconds later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Outbound(
                OutboundError::Timeout
                | OutboundError::Connect(_)
                | OutboundError::Tls(_)
                | OutboundError::Protocol(_),
            ) => true,
            Self::Status { status, .. } => matches!(status, 408 | 425 | 429 | 500..=599),
            // Nothing was sent, so this is not a failure of the server.
            Self::Outbound(OutboundError::Refused(_) | OutboundError::Busy(_))
            | Self::Redirect
            | Self::Encoded
            | Self::TooLarge => false,
        }
    }
}

impl Outbound {
    /// Fetches a file for the team that has `socket`. Redirects are followed within the same
    /// deadline, and each is checked like the first URL. Only a 200 counts. No cookies and no
    /// referer are sent, and no connection is kept.
    pub async fn fetch(&self, socket: Socket, fetch: Fetch<'_>) -> Result<Vec<u8>, FetchError> {
        let file = tokio::time::timeout(fetch.deadline, self.follow(&socket, fetch))
            .await
            .unwrap_or(Err(OutboundError::Timeout.into()));
        if let Err(FetchError::Outbound(OutboundError::Refused(reason))) = &file {
            blocked(*reason).increment(1);
        }
        file
    }

    async fn follow(&self, socket: &Socket, fetch: Fetch<'_>) -> Result<Vec<u8>, FetchError> {
        let mut url = Url::parse(fetch.url).map_err(|_| OutboundError::Refused(Refusal::Url))?;
        for _ in 0..=MAX_REDIRECTS {
            let to = self.0.admit(socket, &url)?;
            let request = request(Method::GET, &url, headers(fetch.accept), Bytes::new())?;
            // The connection of the previous hop is closed by now, because a socket allows one
            // connection.
            let mut connection = self.0.connect(socket, &to).await?;
            let response = connection.send(request).await;
            let response = response.map_err(|error| OutboundError::from(error.into_error()))?;
            let (head, body) = response.into_parts();
            match head.status {
                StatusCode::OK => {
                    return read_whole(fetch.limit, connection, &head.headers, body).await;
                }
                StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT => url = target(&url, &head.headers)?,
                status => {
                    return Err(FetchError::Status {
                        status: status.as_u16(),
                        retry_after: retry_after(&head.headers),
                    });
                }
            }
        }
        Err(FetchError::Redirect)
    }
}

fn headers(accept: &'static str) -> HeaderMap {
    let value = HeaderValue::from_static;
    HeaderMap::from_iter([
        (ACCEPT, value(accept)),
        (ACCEPT_ENCODING, value("identity")),
        (USER_AGENT, value("Service-Images/1.0")),
        (CONNECTION, value("close")),
    ])
}

/// Where a redirect leads. A redirect from https to http is refused, because anybody on the way
/// could replace the file.
pub(super) fn target(from: &Url, headers: &HeaderMap) -> Result<Url, FetchError> {
    let mut locations = headers.get_all(LOCATION).iter();
    let (Some(location), None) = (locations.next(), locations.next()) else {
        return Err(FetchError::Redirect);
    };
    let location = location.to_str().map_err(|_| FetchError::Redirect)?;
    let to = from.join(location).map_err(|_| FetchError::Redirect)?;
    if from.scheme() == "https" && to.scheme() == "http" {
        return Err(FetchError::Redirect);
    }
    Ok(to)
}

/// The whole body.
async fn read_whole(
    limit: usize,
    mut connection: Connection,
    headers: &HeaderMap,
    mut body: Incoming,
) -> Result<Vec<u8>, FetchError> {
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    if encodings.any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(FetchError::Encoded);
    }
    let announced = body.size_hint().exact();
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(FetchError::TooLarge);
    }
    let mut file = Vec::new();
    while let Some(chunk) = connection
        .chunk(&mut body)
        .await
        .map_err(OutboundError::from)?
    {
        if file.len() + chunk.len() > limit {
            return Err(FetchError::TooLarge);
        }
        file.extend_from_slice(&chunk);
    }
    Ok(file)
}
