//! The answer to a checkpoint: the finisher gives it, and the run waits for it.

use tokio::sync::oneshot;

use crate::in_flight::Turn;

/// Why a checkpoint was not recorded. A handler can simply return it as its `Err`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRecorded {
    /// Another worker has the job now, or its run is over. Stop: the result of this run will be
    /// refused.
    #[error("this worker no longer has the job; the checkpoint was refused")]
    NoLongerOurs,
    /// The effect failed by itself, and nothing of it was written. The job is still this worker's.
    #[error("the effect of a checkpoint failed: {0}")]
    EffectFailed(String),
}

/// Tells a run whether its checkpoint was recorded.
#[derive(Debug)]
pub(crate) struct Answer {
    sender: oneshot::Sender<Result<(), NotRecorded>>,
    turn: Turn,
}

impl Answer {
    pub(crate) const fn new(sender: oneshot::Sender<Result<(), NotRecorded>>, turn: Turn) -> Self {
        Self { sender, turn }
    }

    pub(crate) fn recorded(self) {
        self.turn.advance();
        self.give(Ok(()));
    }

    pub(crate) fn refused(self) {
        self.give(Err(NotRecorded::NoLongerOurs));
    }

    pub(crate) fn failed(self, error: String) {
        self.give(Err(NotRecorded::EffectFailed(error)));
    }

    fn give(self, answer: Result<(), NotRecorded>) {
        // The run may have timed out in the meantime. Then nobody waits for the answer.
        let _ = self.sender.send(answer);
    }
}
