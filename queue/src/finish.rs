//! The finisher: gathers what ended meanwhile and writes it in one transaction.
//!
//! A batch that fails for a reason of its own is split until the culprit stands alone and is charged. A batch
//! that fails because of the database waits, as long as it takes: its jobs stay this worker's while the
//! heartbeat gets through, and are refused by the fence when it did not.

use std::sync::Arc;

use tokio::{
    runtime::Handle,
    sync::{Mutex, mpsc, mpsc::error::TrySendError},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{error, warn};

use crate::{
    Retry,
    fault::Fault,
    handle::Shared,
    link::Link,
    outcome::{Ended, Outcome, RetryReason, bounded},
    settle::{Failure, bounded_link, settle},
};

/// How often a failure that may be anybody's is waited out before the effects are blamed.
const UNCLEAR_TRIES: u32 = 3;

/// Where ended jobs wait for the finisher. Bounded: whoever ends a job waits for room.
#[derive(Debug)]
pub(crate) struct Inbox {
    sender: mpsc::Sender<Ended>,
    /// Shared by the finishers, who take turns in gathering a batch.
    receiver: Mutex<mpsc::Receiver<Ended>>,
    /// What waits outside for room, or for its checkpoint.
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

    /// Hands over a job that ended; waits for room. After the queue has closed, the job is left to the rescue.
    pub(crate) async fn send(&self, ended: Ended) {
        ended.hold.end().await;
        // The error is the job itself, whose hold is let go by dropping it.
        drop(self.sender.send(ended).await);
    }

    /// Hands over a checkpoint of a job that goes on; waits for room.
    pub(crate) async fn record(&self, reached: Ended) {
        drop(self.sender.send(reached).await);
    }

    /// The same, from where nobody can wait. What is handed over so was never started or is over, and was
    /// claimed: it is as bounded as claims are.
    pub(crate) fn post(&self, ended: Ended) {
        let ended = if ended.hold.try_end() {
            match self.sender.try_send(ended) {
                Err(TrySendError::Full(ended)) => ended,
                Ok(()) | Err(TrySendError::Closed(_)) => return,
            }
        } else {
            ended
        };
        let sender = self.sender.clone();
        let send = async move {
            ended.hold.end().await;
            drop(sender.send(ended).await);
        };
        self.late.spawn_on(send, &self.runtime);
    }

    /// What has ended, at least one job; none when draining and there is nothing left.
    async fn gather(&self, most: usize, draining: &CancellationToken) -> Option<Vec<Ended>> {
        let mut receiver = self.receiver.lock().await;
        let mut batch = Vec::new();
        tokio::select! {
            biased;
            _ = receiver.recv_many(&mut batch, most.max(1)) => {}
            () = self.drained(draining) => {}
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// Draining, and nothing more is to come.
    async fn drained(&self, draining: &CancellationToken) {
        draining.cancelled().await;
        self.late.close();
        self.late.wait().await;
    }

    /// Takes nothing more.
    pub(crate) async fn close(&self) {
        self.receiver.lock().await.close();
    }
}

/// Jobs to be written together.
struct Batch {
    ended: Vec<Ended>,
    unclear: u32,
}

/// Finishes jobs until the queue has closed and all are written.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut link = bounded_link(&shared.pool, shared.config.deadline);
    while let Some(ended) = shared
        .inbox
        .gather(shared.config.finish_batch, &shared.draining)
        .await
    {
        finish(&shared, &mut link, ended).await;
    }
}

/// Writes a batch, in as many pieces and tries as that takes.
async fn finish(shared: &Arc<Shared>, link: &mut Link, ended: Vec<Ended>) {
    let mut batches = vec![Batch { ended, unclear: 0 }];
    let mut failures = 0;
    while let Some(mut batch) = batches.pop() {
        let failure = match settle(shared, link, &batch.ended).await {
            Ok(written) => {
                failures = 0;
                written.report(shared, batch.ended);
                continue;
            }
            Err(failure) => failure,
        };
        match blame(&failure, &mut batch) {
            Fault::Effect | Fault::Statement => isolate(&failure, batch, &mut batches),
            Fault::System | Fault::Unclear => {
                failures += 1;
                let wait = Retry::OUTAGE.delay(failures);
                warn!(error = %failure, jobs = batch.ended.len(), ?wait, "could not finish jobs; trying again");
                batches.push(batch);
                if shared.pause(wait).await {
                    return;
                }
            }
        }
    }
}

/// Decides whose fault a failure is, for this batch.
fn blame(failure: &Failure, batch: &mut Batch) -> Fault {
    // Without an effect there is nobody to charge.
    if batch.ended.iter().all(|ended| ended.effect().is_none()) {
        return Fault::System;
    }
    match failure.fault() {
        Fault::Unclear => {
            batch.unclear += 1;
            if batch.unclear > UNCLEAR_TRIES {
                Fault::Effect
            } else {
                Fault::Unclear
            }
        }
        // The statement is the effect's own.
        Fault::Effect | Fault::Statement => Fault::Effect,
        Fault::System => Fault::System,
    }
}

/// Splits a batch in two; one that stands alone has failed in its effect.
fn isolate(failure: &Failure, mut batch: Batch, batches: &mut Vec<Batch>) {
    let half = batch.ended.len() / 2;
    if half > 0 {
        for ended in [batch.ended.split_off(half), batch.ended] {
            batches.push(Batch { ended, unclear: 0 });
        }
    } else if let Some(Ended { hold, outcome }) = batch.ended.pop() {
        let claim = &hold.claim;
        if let Outcome::Checkpoint { answer, .. } = outcome {
            error!(job = %claim.job, queue = %claim.queue, attempt = claim.attempt, error = %failure,
                "the effect of a checkpoint failed; the job is told");
            answer.failed(bounded(failure));
            return;
        }
        error!(job = %claim.job, queue = %claim.queue, attempt = claim.attempt, error = %failure,
            "the effect of a job failed; the attempt is charged");
        let outcome = Outcome::Failed {
            reason: RetryReason::Effect,
            error: bounded(format_args!("its effect failed: {failure}")),
            delay: None,
        };
        batch.ended.push(Ended { hold, outcome });
        batches.push(batch);
    }
}
