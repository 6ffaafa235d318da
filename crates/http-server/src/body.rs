//! Reading request bodies within bounds: for the size of one body, for the time it takes, and for
//! the memory that all bodies need together.

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use fair_share::Proxies;
use http_body_util::{BodyExt as _, combinators::BoxBody};
use poem::{Addr, Body, Request, http::header};
use tokio::time::{Instant, timeout_at};

use crate::per_address::{PerAddress, Share};

/// The bounds of request bodies.
#[derive(Clone, Debug)]
pub struct BodySettings {
    /// Bytes of one body.
    pub max_bytes: usize,
    /// How long one body may take to arrive.
    pub deadline: Duration,
    /// The grace: how long it may take, however little of it arrives.
    pub grace: Duration,
    /// The bytes per second that must have arrived on average after the grace.
    pub bytes_per_second: u32,
    /// Bytes of memory for all large bodies together. Small bodies (up to 16 KiB) are not counted:
    /// the number of connections limits them. One address may use at most as much as remains free.
    pub budget_bytes: usize,
    /// Proxies, which can use all of it.
    pub proxies: Proxies,
}

impl Default for BodySettings {
    /// 16 MiB each within 30 s, 16 KiB a second after the first 10 s, 256 MiB together.
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            deadline: Duration::from_secs(30),
            grace: Duration::from_secs(10),
            bytes_per_second: 16 << 10,
            budget_bytes: 256 << 20,
            proxies: Proxies::default(),
        }
    }
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// It is larger than it may be.
    #[error("The body is larger than {0} bytes.")]
    TooLarge(usize),
    /// It is compressed.
    #[error("The body must be sent as it is, without Content-Encoding.")]
    Encoded,
    /// It did not arrive in time.
    #[error("The body did not arrive in time.")]
    TooSlow,
    /// It ended early, or is not well-formed.
    #[error("The body ended early or is not well-formed.")]
    Broken,
    /// The memory for bodies is used up, or the address's share of it.
    #[error("Too much is waiting at the moment. Please try again.")]
    NoRoom,
}

const SMALL: usize = 16 << 10;

/// Reads bodies. All handlers of a listener share it.
#[derive(Clone)]
pub struct BodyReader {
    settings: BodySettings,
    budget: Arc<PerAddress>,
}

/// A whole body, with its share of the memory until it is dropped.
pub struct Held {
    /// The bytes.
    pub bytes: Bytes,
    /// Its share of the memory. Keep it as long as the bytes or what was made of them.
    pub share: Share,
}

impl BodyReader {
    /// A reader with these bounds.
    pub fn new(settings: BodySettings) -> Self {
        let budget = PerAddress::new(settings.budget_bytes, settings.proxies.clone());
        Self { settings, budget }
    }

    /// Reads the whole body. A compressed body, and a declared length over the limit, are refused
    /// before anything is read.
    ///
    /// # Errors
    /// Why the body was not read.
    pub async fn read(&self, request: &Request, body: Body) -> Result<Held, BodyFault> {
        if declared_length(request).is_some_and(|length| length > self.settings.max_bytes as u64) {
            return Err(self.too_large());
        }
        if is_encoded(request) {
            return Err(BodyFault::Encoded);
        }
        let share = self.budget.share(sender(request));
        self.collect(body.into(), declared_length(request), share)
            .await
    }

    async fn collect(
        &self,
        mut body: BoxBody<Bytes, io::Error>,
        declared: Option<u64>,
        mut share: Share,
    ) -> Result<Held, BodyFault> {
        let started = Instant::now();
        // Nearly every body is one chunk, which is then taken as it is.
        let (mut first, mut joined) = (Bytes::new(), Vec::new());
        loop {
            let length = first.len() + joined.len();
            let by = started + self.time_for(length);
            let frame = timeout_at(by, body.frame())
                .await
                .map_err(|_| BodyFault::TooSlow)?;
            let Some(frame) = frame else { break };
            let frame = frame.map_err(|_| BodyFault::Broken)?;
            // A frame without data is a trailer. Trailers are ignored.
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            let length = length + chunk.len();
            if length > self.settings.max_bytes {
                return Err(self.too_large());
            }
            if first.is_empty() && joined.is_empty() {
                cover(&mut share, length)?;
                first = chunk;
                continue;
            }
            if length > joined.capacity() {
                let room = self.room(length, declared);
                cover(&mut share, room)?;
                joined.reserve_exact(room - joined.len());
            }
            joined.extend_from_slice(&std::mem::take(&mut first));
            joined.extend_from_slice(&chunk);
        }
        let bytes = if joined.is_empty() {
            first
        } else {
            joined.into()
        };
        Ok(Held { bytes, share })
    }

    /// How many bytes to allocate for a body of which `length` bytes have arrived: twice as many,
    /// so that it is rarely copied, but not more than declared. All of them are counted, because
    /// reused memory occupies its whole size.
    fn room(&self, length: usize, declared: Option<u64>) -> usize {
        let declared = declared.and_then(|declared| usize::try_from(declared).ok());
        let most = declared.unwrap_or(usize::MAX).min(self.settings.max_bytes);
        (2 * length).min(most).max(length)
    }

    /// How long to wait for more of a body of which this much has arrived.
    fn time_for(&self, length: usize) -> Duration {
        let earned = length as u64 * 1_000 / u64::from(self.settings.bytes_per_second.max(1));
        self.settings
            .grace
            .saturating_add(Duration::from_millis(earned))
            .min(self.settings.deadline)
    }

    fn too_large(&self) -> BodyFault {
        BodyFault::TooLarge(self.settings.max_bytes)
    }
}

/// Grows the share to cover this many bytes of a body.
fn cover(share: &mut Share, bytes: usize) -> Result<(), BodyFault> {
    if bytes <= SMALL {
        return Ok(());
    }
    let more = bytes - share.amount();
    share.grow(more).map_err(|_| BodyFault::NoRoom)
}

/// The address at the other end of the connection.
pub fn sender(request: &Request) -> IpAddr {
    match &request.remote_addr().0 {
        Addr::SocketAddr(address) => address.ip(),
        // All our listeners are TCP listeners.
        Addr::Unix(_) | Addr::Custom(..) => IpAddr::from([0; 4]),
    }
}

fn declared_length(request: &Request) -> Option<u64> {
    request
        .headers()
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

fn is_encoded(request: &Request) -> bool {
    let encodings = request.headers().get_all(header::CONTENT_ENCODING);
    encodings
        .iter()
        .any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;

    use super::*;

    const PIECE: usize = 10_000;

    async fn collect(pieces: usize, declared: Option<u64>) -> Result<Held, BodyFault> {
        let reader = BodyReader::new(BodySettings {
            max_bytes: 40 * PIECE,
            ..BodySettings::default()
        });
        let piece = |_| Ok(Frame::data(Bytes::from(vec![b'a'; PIECE])));
        let body = StreamBody::new(stream::iter((0..pieces).map(piece)));
        let share = reader.budget.share([192, 0, 2, 1].into());
        reader.collect(BoxBody::new(body), declared, share).await
    }

    #[tokio::test]
    async fn what_is_allocated_for_a_body_is_counted_and_not_more_than_declared() {
        for pieces in 2..=40 {
            let length = pieces * PIECE;
            for (declared, most) in [(None, 2 * length), (Some(length as u64), length)] {
                let Held { bytes, share } = collect(pieces, declared).await.ok().unwrap();
                let allocated = Vec::from(bytes);
                assert_eq!(allocated.len(), length);
                assert!(allocated.capacity() <= most, "{}", allocated.capacity());
                assert_eq!(share.amount(), allocated.capacity());
            }
        }
        assert!(collect(41, None).await.is_err());
    }
}
