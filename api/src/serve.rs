//! The accept loop: HTTP/1.1 with a deadline for request heads, a cap on connections, and a shutdown that lets running
//! requests finish.
//!
//! poem's own server is not used, because it never gives hyper a timer: a client that sends one header byte a second
//! would keep its connection for ever.

use std::{convert::Infallible, io, sync::Arc, time::Duration};

use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use poem::{
    Addr, Endpoint, Request, Response,
    http::uri::Scheme,
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

/// The bounds of a listener.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long a request's head may take to arrive. An idle connection is closed after the same time.
    pub header_deadline: Duration,
    /// Open connections; more wait in the system's backlog.
    pub connections: usize,
    /// How long running requests may take to finish at shutdown.
    pub drain: Duration,
}

impl Default for Settings {
    /// 5 s, 10,000 connections, 10 s.
    fn default() -> Self {
        Self {
            header_deadline: Duration::from_secs(5),
            connections: 10_000,
            drain: Duration::from_secs(10),
        }
    }
}

/// The largest request head, and what is read from a socket at a time.
const BUFFER_BYTES: usize = 64 << 10;
/// After a failed accept, which is nearly always for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` resolves, then closes the listener, lets running requests finish within the drain limit, and
/// cuts off the rest.
///
/// # Errors
/// When the listener has no local address.
pub async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    E: Endpoint<Output = Response> + 'static,
{
    let local = LocalAddr(Addr::SocketAddr(listener.local_addr()?));
    let endpoint = Arc::new(endpoint);
    let slots = Arc::new(Semaphore::new(settings.connections));
    let graceful = GracefulShutdown::new();
    let cut_off = CancellationToken::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.header_deadline)
        .max_buf_size(BUFFER_BYTES);

    let accepting = async {
        loop {
            let slot = Arc::clone(&slots)
                .acquire_owned()
                .await
                .expect("the semaphore is never closed");
            let (stream, peer) = accept(&listener).await;
            let remote = RemoteAddr(Addr::SocketAddr(peer));
            let (endpoint, local) = (Arc::clone(&endpoint), local.clone());
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let request = Request::from((request, local.clone(), remote.clone(), Scheme::HTTP));
                let endpoint = Arc::clone(&endpoint);
                async move {
                    let response: hyper::Response<_> = endpoint.get_response(request).await.into();
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
            let cut_off = cut_off.clone();
            tokio::spawn(async move {
                tokio::select! {
                    ended = connection => if let Err(error) = ended {
                        debug!(%error, "a connection ended early");
                    },
                    () = cut_off.cancelled() => {}
                }
                drop(slot);
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = shutdown => {}
    }
    drop(listener);
    info!(
        connections = graceful.count(),
        "no longer accepting connections"
    );
    if timeout(settings.drain, graceful.shutdown()).await.is_err() {
        warn!("requests were still running at the end of the drain limit and were cut off");
        cut_off.cancel();
    }
    Ok(())
}

async fn accept(listener: &TcpListener) -> (TcpStream, std::net::SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                // Answers are small and complete: waiting to send more together only delays them.
                if let Err(error) = stream.set_nodelay(true) {
                    debug!(%error, "a connection was gone before it was served");
                }
                return (stream, peer);
            }
            Err(error) => {
                warn!(%error, "could not accept a connection");
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
