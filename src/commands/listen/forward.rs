//! Forwards a webhook, unchanged, to the application that you develop.

use std::{fmt, str::FromStr, time::Duration};

use domain::webhook::{ATTEMPT_DEADLINE, READ_ANSWER_BYTES};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{
        CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, RETRY_AFTER, TRANSFER_ENCODING,
        UPGRADE,
    },
};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time};
use url::{Position, Url};

/// The time that the application has. It is short enough that Gatehouse still gets an answer.
const DEADLINE: Duration = ATTEMPT_DEADLINE.saturating_sub(Duration::from_secs(2));
/// The response headers that Gatehouse reads.
const PASSED_BACK: [HeaderName; 2] = [CONTENT_TYPE, RETRY_AFTER];
/// Headers that belong to a connection and not to the request.
const LEFT_OUT: [HeaderName; 5] = [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, UPGRADE];

/// A local application.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// An `http` URL.
    url: Url,
    /// The time for everything.
    pub(super) deadline: Duration,
}

/// Why the application gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("cannot connect to {0}: {1}; is your application running?")]
    Down(String, std::io::Error),
    #[error("{0} gave no HTTP answer: {1}")]
    Broken(String, hyper::Error),
    #[error("{0} did not answer within {1:?}")]
    Slow(String, Duration),
}

impl Failure {
    /// The status that a gateway answers instead.
    pub(super) const fn status(&self) -> StatusCode {
        match self {
            Self::Down(..) | Self::Broken(..) => StatusCode::BAD_GATEWAY,
            Self::Slow(..) => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}

impl Target {
    /// Sends the same headers and bytes, and returns the answer with the head and the part of the body that Gatehouse reads.
    pub(super) async fn forward(
        &self,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Full<Bytes>>, Failure> {
        time::timeout(self.deadline, self.exchange(headers, body))
            .await
            .unwrap_or_else(|_| Err(Failure::Slow(self.to_string(), self.deadline)))
    }

    async fn exchange(
        &self,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Full<Bytes>>, Failure> {
        let broken = |error| Failure::Broken(self.to_string(), error);
        let address = self.url.socket_addrs(|| None);
        let stream = match address {
            Ok(addresses) => TcpStream::connect(addresses.as_slice()).await,
            Err(error) => Err(error),
        };
        let stream = stream.map_err(|error| Failure::Down(self.to_string(), error))?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        let connection = tokio::spawn(connection);
        let answer = sender.send_request(self.request(headers, body)).await;
        let answer = answer.map_err(broken)?;
        let mut passed = Response::new(Full::default());
        *passed.status_mut() = answer.status();
        for name in PASSED_BACK {
            if let Some(value) = answer.headers().get(&name) {
                passed.headers_mut().insert(name, value.clone());
            }
        }
        *passed.body_mut() = read(answer.into_body()).await.map_err(broken)?.into();
        // The rest of the body is not read.
        connection.abort();
        Ok(passed)
    }

    fn request(&self, headers: &HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::post(&self.url[Position::BeforePath..Position::AfterQuery])
            .header(HOST, &self.url[Position::BeforeHost..Position::AfterPort])
            .body(Full::new(body))
            .expect("a URL has a path and an authority");
        let passed = headers.iter().filter(|(name, _)| !LEFT_OUT.contains(name));
        for (name, value) in passed {
            request.headers_mut().append(name, value.clone());
        }
        request
    }
}

impl FromStr for Target {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let url: Url = text
            .parse()
            .map_err(|_| "must be a URL such as http://localhost:3000/hooks")?;
        if url.scheme() != "http" {
            return Err(
                "must begin with http://, which is enough for an application on this machine",
            );
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or a password");
        }
        Ok(Self {
            url,
            deadline: DEADLINE,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url[..Position::AfterPath])
    }
}

async fn read(mut body: Incoming) -> Result<Vec<u8>, hyper::Error> {
    let mut read = Vec::new();
    while read.len() < READ_ANSWER_BYTES
        && let Some(frame) = body.frame().await
    {
        if let Ok(data) = frame?.into_data() {
            let room = READ_ANSWER_BYTES - read.len();
            read.extend_from_slice(&data[..data.len().min(room)]);
        }
    }
    Ok(read)
}
