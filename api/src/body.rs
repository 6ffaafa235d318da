//! Reading request bodies within bounds: of one body's size, of the time it takes, and of the memory that all bodies
//! take together.

use std::{io, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, combinators::BoxBody};
use poem::{Body, Request, http::header};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::problem::{Code, Refusal};

/// The bounds of request bodies.
#[derive(Clone, Copy, Debug)]
pub struct BodySettings {
    /// Bytes of one body.
    pub max_bytes: usize,
    /// How long one body may take to arrive.
    pub deadline: Duration,
    /// Bytes that all large bodies together may hold at one time. Small ones (16 KiB) are not counted: they are
    /// bounded by the number of connections.
    pub budget_bytes: usize,
}

impl Default for BodySettings {
    /// 16 MiB each within 30 s, 256 MiB together.
    fn default() -> Self {
        Self {
            max_bytes: 16 << 20,
            deadline: Duration::from_secs(30),
            budget_bytes: 256 << 20,
        }
    }
}

const SMALL: usize = 16 << 10;
/// How long a client that sends too much may go on sending, unheard. See [`discard`].
const LINGER: Duration = Duration::from_secs(2);

/// Reads bodies; shared by all handlers of a listener.
#[derive(Clone)]
pub(crate) struct BodyReader {
    settings: BodySettings,
    budget: Arc<Semaphore>,
}

/// A whole body, and its share of the budget for as long as this lives.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) bytes: Bytes,
    pub(crate) share: Share,
}

/// A part of the memory budget; given back when dropped.
#[derive(Default)]
pub(crate) struct Share(Option<OwnedSemaphorePermit>);

impl BodyReader {
    pub(crate) fn new(settings: BodySettings) -> Self {
        Self {
            settings,
            budget: Arc::new(Semaphore::new(settings.budget_bytes)),
        }
    }

    /// The whole body. A declared length over the limit is refused before anything is read.
    pub(crate) async fn read(&self, request: &Request, body: Body) -> Result<Held, Refusal> {
        let body = body.into();
        if declared_length(request).is_some_and(|length| length > self.settings.max_bytes as u64) {
            return Err(self.too_large(body));
        }
        let reading = self.collect(body);
        timeout(self.settings.deadline, reading)
            .await
            .unwrap_or_else(|_| {
                Err(Refusal::new(
                    Code::RequestTimeout,
                    "The body did not arrive in time.",
                ))
            })
    }

    async fn collect(&self, mut body: BoxBody<Bytes, io::Error>) -> Result<Held, Refusal> {
        let mut held = Held::default();
        // Nearly every body is one chunk, which is then taken as it is.
        let mut joined = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| {
                Refusal::invalid_request("The body ended early or is not well-formed.")
            })?;
            let Ok(chunk) = frame.into_data() else {
                continue;
            };
            let length = held.bytes.len() + joined.len() + chunk.len();
            if length > self.settings.max_bytes {
                return Err(self.too_large(body));
            }
            held.share.grow(&self.budget, length)?;
            if held.bytes.is_empty() && joined.is_empty() {
                held.bytes = chunk;
                continue;
            }
            joined.extend_from_slice(&std::mem::take(&mut held.bytes));
            joined.extend_from_slice(&chunk);
        }
        if held.bytes.is_empty() {
            held.bytes = joined.freeze();
        }
        Ok(held)
    }

    fn too_large(&self, body: BoxBody<Bytes, io::Error>) -> Refusal {
        tokio::spawn(discard(body));
        let detail = format!("The body is larger than {} bytes.", self.settings.max_bytes);
        Refusal::new(Code::PayloadTooLarge, detail)
    }
}

impl Share {
    /// Covers a body that has grown to `length` bytes.
    fn grow(&mut self, budget: &Arc<Semaphore>, length: usize) -> Result<(), Refusal> {
        if length <= SMALL {
            return Ok(());
        }
        let has = self.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(length - has).unwrap_or(u32::MAX);
        let permit = Arc::clone(budget)
            .try_acquire_many_owned(more)
            .map_err(|_| Refusal::overloaded())?;
        match &mut self.0 {
            Some(share) => share.merge(permit),
            None => self.0 = Some(permit),
        }
        Ok(())
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

/// Goes on reading a refused body for a moment, keeping nothing. Closing at once would reset the connection of a client
/// that is still sending, and the answer with it.
async fn discard(mut body: BoxBody<Bytes, io::Error>) {
    let rest = async { while let Some(Ok(_)) = body.frame().await {} };
    // Whether it ended or not, it is over.
    let _ = timeout(LINGER, rest).await;
}
