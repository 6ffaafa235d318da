//! Opening a TCP connection to one of a host's addresses.

use std::{io, net::SocketAddr, pin::pin, time::Duration};

use futures::future::{Either, select};
use tokio::{net::TcpStream, time::timeout};

use super::Socket;

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
