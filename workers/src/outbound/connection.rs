//! One HTTP/1.1 connection, driven by the request that uses it.
//!
//! hyper splits a connection in two: one half takes requests, the other half reads and writes.
//! Usually a separate task runs the second half. Here the request runs it. So dropping a
//! [`Connection`] closes its socket at once, and the number of connections is the number of
//! sockets.

use std::{
    fmt,
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use futures::future::{Either, select};
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{self, SendRequest},
    },
};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use url::Host;

use super::{OutboundError, Socket};

/// A stream of bytes, encrypted or not.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

type Wire = http1::Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>;

/// An open connection.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// None after the connection has ended.
    wire: Option<Wire>,
}

impl Connection {
    /// Speaks HTTP on this stream.
    pub(super) async fn plain(stream: TcpStream) -> Result<Self, OutboundError> {
        Self::on(Box::new(stream)).await
    }

    /// Speaks HTTP on this stream through TLS. The server needs a valid certificate for `host`.
    pub(super) async fn secure(
        stream: TcpStream,
        tls: &TlsConnector,
        host: &Host<String>,
    ) -> Result<Self, OutboundError> {
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name.clone())
                .map_err(|error| OutboundError::Connect(error.into()))?,
            Host::Ipv4(ip) => ServerName::IpAddress((*ip).into()),
            Host::Ipv6(ip) => ServerName::IpAddress((*ip).into()),
        };
        let stream = tls.connect(name, stream).await;
        Self::on(Box::new(stream.map_err(OutboundError::connecting)?)).await
    }

    async fn on(stream: Box<dyn Stream>) -> Result<Self, OutboundError> {
        let (sender, wire) = http1::handshake(TokioIo::new(stream)).await?;
        let wire = Some(wire);
        Ok(Self { sender, wire })
    }

    /// Sends a request and waits for the head of its answer. The error contains the request if
    /// nothing of it was sent.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        let answer = self.sender.try_send_request(request);
        drive(&mut self.wire, answer).await
    }

    /// The next bytes of an answer's body. None at its end.
    pub(super) async fn chunk(
        &mut self,
        body: &mut Incoming,
    ) -> Result<Option<Bytes>, hyper::Error> {
        while let Some(frame) = drive(&mut self.wire, body.frame()).await {
            // Trailers are ignored.
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Whether another request can be sent now: the last one has ended, and the connection is open.
    pub(super) async fn is_free(&mut self) -> bool {
        poll_fn(|cx| {
            if let Some(wire) = &mut self.wire
                && Pin::new(wire).poll(cx).is_ready()
            {
                self.wire = None;
            }
            let is_ready = matches!(self.sender.poll_ready(cx), Poll::Ready(Ok(())));
            Poll::Ready(self.wire.is_some() && is_ready)
        })
        .await
    }
}

/// Runs the connection until `work`, which waits for it, is done.
async fn drive<T>(wire: &mut Option<Wire>, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done);
        }
        // `work` is woken and gets the error.
        if let Some(running) = wire
            && Pin::new(running).poll(cx).is_ready()
        {
            *wire = None;
        }
        work.as_mut().poll(cx)
    })
    .await
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

/// After this time without an answer, the other family of addresses is tried, too (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(300);

/// Connects to the first address that answers, in the resolver's order. IPv4 and IPv6 are tried at the same time only if
/// `spare` allows a second socket.
pub(super) async fn dial(
    addresses: &[SocketAddr],
    spare: impl FnOnce() -> Option<Socket>,
) -> io::Result<TcpStream> {
    let family = addresses.first().is_some_and(SocketAddr::is_ipv4);
    let (first, other): (Vec<_>, Vec<_>) = addresses
        .iter()
        .partition(|address| address.is_ipv4() == family);
    let mut first = pin!(one_after_another(&first));
    if other.is_empty() {
        return first.await;
    }
    match timeout(HEAD_START, first.as_mut()).await {
        Ok(Ok(stream)) => return Ok(stream),
        Ok(Err(_)) => return one_after_another(&other).await,
        Err(_) => {}
    }
    let Some(_second) = spare() else {
        return first.await;
    };
    let other = pin!(one_after_another(&other));
    match select(first, other).await {
        Either::Left((Ok(stream), _)) | Either::Right((Ok(stream), _)) => Ok(stream),
        Either::Left((Err(_), other)) => other.await,
        Either::Right((Err(_), first)) => first.await,
    }
}

async fn one_after_another(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no addresses");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Requests are written as a whole. Nagle's algorithm would only delay them.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
