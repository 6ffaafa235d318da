//! The inbox of the finishers: jobs that ended wait here to be written.

use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc, mpsc::error::TrySendError},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::outcome::Ended;

/// Where ended jobs wait for the finisher. Bounded: the sender waits for room.
#[derive(Debug)]
pub(crate) struct Inbox {
    sender: mpsc::Sender<Ended>,
    /// Shared by the finishers, which take turns in collecting a batch.
    receiver: Mutex<mpsc::Receiver<Ended>>,
    /// Jobs that wait outside for room, or for their checkpoint.
    late: TaskTracker,
    runtime: Handle,
}

impl Inbox {
    pub(crate) fn new(capacity: usize) -> Self {
        let (sender, receiver) = mpsc::channel(capacity.max(1));
        Self {
            sender,
            receiver: Mutex::new(receiver),
            late: TaskTracker::new(),
            runtime: Handle::current(),
        }
    }

    /// Hands over a job that ended, and waits for room. After the queue has closed, the job is left
    /// to the rescue.
    pub(crate) async fn send(&self, ended: Ended) {
        ended.in_flight.end().await;
        // The error contains the job. Dropping it drops the job in flight.
        drop(self.sender.send(ended).await);
    }

    /// Hands over a checkpoint of a job that goes on, and waits for room.
    pub(crate) async fn record(&self, reached: Ended) {
        drop(self.sender.send(reached).await);
    }

    /// Hands over a job that ended, for callers that cannot wait. Such a job was claimed, so there
    /// are never more of them than claims.
    pub(crate) fn post(&self, ended: Ended) {
        let ended = if ended.in_flight.try_end() {
            match self.sender.try_send(ended) {
                Err(TrySendError::Full(ended)) => ended,
                Ok(()) | Err(TrySendError::Closed(_)) => return,
            }
        } else {
            ended
        };
        let sender = self.sender.clone();
        let send = async move {
            ended.in_flight.end().await;
            drop(sender.send(ended).await);
        };
        self.late.spawn_on(send, &self.runtime);
    }

    /// Waits for jobs that ended, and takes at most this many. `None` when the queue drains and
    /// nothing is left.
    pub(crate) async fn gather(
        &self,
        most: usize,
        draining: &CancellationToken,
    ) -> Option<Vec<Ended>> {
        let mut receiver = self.receiver.lock().await;
        let mut batch = Vec::new();
        tokio::select! {
            biased;
            _ = receiver.recv_many(&mut batch, most.max(1)) => {}
            () = self.drained(draining) => {}
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// The queue drains, and nothing more will come.
    async fn drained(&self, draining: &CancellationToken) {
        draining.cancelled().await;
        self.late.close();
        self.late.wait().await;
    }

    /// Accepts nothing more.
    pub(crate) async fn close(&self) {
        self.receiver.lock().await.close();
    }
}
