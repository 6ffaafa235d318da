//! Requests to the management interface of a service, which the user named.

use std::{sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    client::conn::http1,
    header::{AUTHORIZATION, CONTENT_TYPE, HOST, RETRY_AFTER},
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};
use tokio_util::either::Either;
use url::{Position, Url};

/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(15);
/// How long the service may take to begin its answer.
const ANSWERING: Duration = Duration::from_mins(1);
/// Bytes of a problem document that are read.
const LONGEST_PROBLEM: usize = 64 << 10;
/// The longest wait that a service can ask for.
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// Why a request brought no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// It would fail again.
    Final(String),
    /// It may succeed later.
    Passing {
        why: String,
        /// How long the service asks to wait.
        after: Option<Duration>,
    },
}

impl Failure {
    pub(super) fn passing(why: impl Into<String>) -> Self {
        Self::Passing {
            why: why.into(),
            after: None,
        }
    }
}

/// A service, and a token for it.
pub(super) struct Server {
    url: Url,
    authorization: String,
}

impl Server {
    pub(super) fn new(url: Url, token: &str) -> Self {
        Self {
            url,
            authorization: format!("Bearer {token}"),
        }
    }

    /// Sends a request on a new connection. Only an answer of success is one.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Response<Incoming>, Failure> {
        let connected = timeout(CONNECTING, self.connect()).await;
        let stream = connected.map_err(|_| Failure::passing("connecting took too long"))??;
        let broken = |error: hyper::Error| Failure::passing(format!("no answer: {error}"));
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(broken)?;
        // It ends with the answer's body.
        tokio::spawn(connection);
        let request = self.request(method, path, body)?;
        let answer = timeout(ANSWERING, sender.send_request(request)).await;
        let answer = answer.map_err(|_| Failure::passing("the answer took too long"))?;
        let answer = answer.map_err(broken)?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(refusal(answer).await)
    }

    async fn connect(&self) -> Result<Either<TcpStream, TlsStream<TcpStream>>, Failure> {
        let addresses = self.url.socket_addrs(|| None);
        let addresses = addresses.map_err(|error| Failure::passing(error.to_string()))?;
        let stream = TcpStream::connect(addresses.as_slice()).await;
        let stream = stream.map_err(|error| {
            let place = &self.url[..Position::BeforePath];
            Failure::passing(format!("cannot connect to {place}: {error}"))
        })?;
        if self.url.scheme() == "http" {
            return Ok(Either::Left(stream));
        }
        let host = self.url.host_str().unwrap_or_default();
        let host = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host)
            .map_err(|_| Failure::Final("the URL has no host".to_owned()))?;
        let connector = TlsConnector::from(Arc::new(workers::tls::client_config()));
        match connector.connect(name, stream).await {
            Ok(stream) => Ok(Either::Right(stream)),
            Err(error) => Err(Failure::passing(format!("no HTTPS connection: {error}"))),
        }
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let prefix = self.url.path().trim_end_matches('/');
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{prefix}{path}"))
            .header(HOST, &self.url[Position::BeforeHost..Position::AfterPort])
            .header(AUTHORIZATION, &self.authorization);
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| Failure::Final(error.to_string()))
    }
}

/// What a problem document says.
async fn refusal(answer: Response<Incoming>) -> Failure {
    #[derive(Deserialize)]
    struct Problem {
        detail: String,
    }
    let status = answer.status();
    let after = answer.headers().get(RETRY_AFTER);
    let after = after.and_then(|after| after.to_str().ok()?.parse().ok());
    let after = after.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WAIT));
    let body = Limited::new(answer.into_body(), LONGEST_PROBLEM);
    let body = timeout(ANSWERING, body.collect()).await;
    let body = body
        .ok()
        .and_then(Result::ok)
        .map(http_body_util::Collected::to_bytes);
    let problem = body.and_then(|body| serde_json::from_slice::<Problem>(&body).ok());
    let why = match problem {
        Some(problem) => format!("{status}: {}", problem.detail),
        None => status.to_string(),
    };
    let passes = status.is_server_error()
        || status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT;
    if passes {
        Failure::Passing { why, after }
    } else {
        Failure::Final(why)
    }
}
