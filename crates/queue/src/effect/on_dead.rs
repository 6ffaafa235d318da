//! What is done for jobs that died.

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::FinishTx;
use crate::{JobId, Lane};

/// What must happen when jobs of a queue die, in the transaction that moves them to `queue.dead_jobs`.
///
/// Register it with [`BackendSettings::on_dead`](crate::BackendSettings::on_dead). However a job
/// dies (no attempts left, its handler gave up, its payload cannot be decoded, its worker was
/// killed too often), it is moved only together with this. While it fails, the job stays, and the
/// move is tried again.
pub trait OnDead: 'static {
    /// Acts for all jobs of one queue that are moved in one transaction. Their handlers do not run
    /// any more.
    fn apply(
        dead: &[DeadJob],
        tx: &mut FinishTx<'_>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// A job about to be moved to `queue.dead_jobs`.
#[derive(Clone, Debug)]
pub struct DeadJob {
    /// The job.
    pub id: JobId,
    /// Its lane.
    pub lane: Lane,
    /// Charged attempts.
    pub attempt: u16,
    /// Why it died.
    pub cause: DeathCause,
    /// The last error, at most 2 KB.
    pub error: String,
    /// Its arguments as they were stored: JSON, but perhaps not what the handler expects.
    pub payload: String,
}

impl DeadJob {
    /// The arguments, if they can be decoded.
    pub fn args<A: DeserializeOwned>(&self) -> Result<A, serde_json::Error> {
        serde_json::from_str(&self.payload)
    }
}

/// Why a job died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum DeathCause {
    /// It has no charged attempts left.
    Exhausted,
    /// Its handler returned apalis's `AbortError`.
    Aborted,
    /// Its handler does not accept its payload.
    Undecodable,
    /// Its worker died during its last attempt.
    WorkerLost,
}

impl DeathCause {
    /// Every cause.
    pub const ALL: [Self; 4] = [
        Self::Exhausted,
        Self::Aborted,
        Self::Undecodable,
        Self::WorkerLost,
    ];

    /// As stored, and as a metric label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Aborted => "aborted",
            Self::Undecodable => "undecodable",
            Self::WorkerLost => "worker_lost",
        }
    }
}

/// An [`OnDead`] without its type.
pub(crate) type OnDeadFn =
    for<'a, 'b> fn(&'a [DeadJob], &'a mut FinishTx<'b>) -> BoxFuture<'a, Result<(), sqlx::Error>>;

pub(crate) fn on_dead_fn<'a, O: OnDead>(
    dead: &'a [DeadJob],
    tx: &'a mut FinishTx<'_>,
) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    Box::pin(O::apply(dead, tx))
}
