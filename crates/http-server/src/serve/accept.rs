//! Accepts connections while there is room, and keeps one address from taking all of it.

use std::{
    io::{self, ErrorKind, Write as _},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use fair_share::Proxies;
use metrics::{Counter, counter, gauge};
use telemetry::{RepeatedFailure, failed, over};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, OwnedSemaphorePermit, Semaphore},
    time::sleep,
};
use tracing::debug;

use crate::{
    error_responses::{self, ErrorResponses, Fault},
    per_address::{PerAddress, Share},
};

/// The pause after a failed accept, which nearly always means that no file descriptor is free.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A listener with a number of slots.
pub(super) struct Acceptor {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    by_address: Arc<PerAddress>,
    room: Arc<Notify>,
    errors: Arc<dyn ErrorResponses>,
    refused: Counter,
    failed: Counter,
    /// Failed accepts. While no file descriptor is free, some connections are accepted in between.
    trouble: RepeatedFailure,
}

/// An accepted connection.
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    /// Keep it as long as the connection.
    pub(super) slot: Slot,
}

/// Its slot. Dropping it frees the slot.
pub(super) struct Slot {
    _slot: OwnedSemaphorePermit,
    _share: Share,
}

impl Acceptor {
    pub(super) fn new(
        listener: TcpListener,
        connections: usize,
        proxies: Proxies,
        errors: Arc<dyn ErrorResponses>,
    ) -> Self {
        let refused = counter!("gatehouse_http_connections_refused_total");
        // Shown from the start: a counter that first appears with its first incident shows no
        // increase.
        refused.increment(0);
        let failed = counter!("gatehouse_http_accept_failures_total");
        failed.increment(0);
        gauge!("gatehouse_http_connections").increment(0.0);
        Self {
            listener,
            slots: Arc::new(Semaphore::new(connections)),
            // And one connection that waits for a slot.
            by_address: PerAddress::new(connections + 1, proxies),
            room: Arc::default(),
            errors,
            refused,
            failed,
            trouble: RepeatedFailure::at_once(),
        }
    }

    /// Asks the connection that has been idle for longest to close.
    pub(super) fn room(&self) -> Arc<Notify> {
        Arc::clone(&self.room)
    }

    /// The next connection, as soon as there is a slot for it. Connections that come meanwhile wait
    /// in the system's backlog.
    pub(super) async fn next(&self) -> Connection {
        loop {
            let (stream, peer) = self.accept().await;
            let mut share = self.by_address.share(peer.ip());
            if share.grow(1).is_err() {
                self.refused.increment(1);
                refuse(stream, &*self.errors);
                continue;
            }
            let slot = self.slot().await;
            gauge!("gatehouse_http_connections").increment(1.0);
            return Connection {
                stream,
                peer,
                slot: Slot {
                    _slot: slot,
                    _share: share,
                },
            };
        }
    }

    async fn slot(&self) -> OwnedSemaphorePermit {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return slot;
        }
        self.room.notify_one();
        Arc::clone(&self.slots)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed")
    }

    async fn accept(&self) -> (TcpStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    over!(self.trouble.worked(), "connections are accepted again");
                    // Answers are small and complete: collecting more data before sending would
                    // only delay them.
                    if let Err(error) = stream.set_nodelay(true) {
                        debug!(%error, "a client disconnected before its connection was served");
                    }
                    return (stream, peer);
                }
                Err(error) if is_of_one_connection(&error) => {
                    debug!(%error, "a client disconnected before its connection was accepted");
                }
                Err(error) => {
                    self.failed.increment(1);
                    failed!(self.trouble.failed(), %error, "cannot accept connections; trying again");
                    // The connection that has been idle for longest closes, and its file descriptor
                    // is free for another.
                    self.room.notify_one();
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

/// Whether the error affects only the connection that would have been accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused
    )
}

impl Drop for Slot {
    fn drop(&mut self) {
        gauge!("gatehouse_http_connections").decrement(1.0);
    }
}

/// Closes the connection, and says why if that needs no waiting.
fn refuse(stream: TcpStream, errors: &dyn ErrorResponses) {
    let answer = error_responses::raw(errors, Fault::Crowded);
    let sent = stream
        .into_std()
        .and_then(|mut stream| stream.write_all(&answer));
    if let Err(error) = sent {
        debug!(%error, "a client disconnected before its connection was refused");
    }
}
