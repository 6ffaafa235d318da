//! Where previews of images are made: in other processes, a few at a time.
//!
//! Each takes memory, so memory is what is handed out. One team can have half of it, and teams take turns.

use std::{sync::Arc, time::Duration};

use domain::{decision::ImageProblem, id::TeamId};
use fair_share::{Limit, Share, Shares};
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::Refused;

/// Memory for decoding, in bytes, in all darkrooms of a process together.
const MEMORY: usize = 512 << 20;
/// Enough for most pictures, of up to about 30 million pixels. So four are decoded at once.
const USUAL: usize = 128 << 20;
/// Enough for every picture. So two of them are decoded at once.
const LARGE: usize = 256 << 20;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(8);

/// Why an image was not developed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreviewError {
    /// It is no image, or one that is not decoded.
    Problem(ImageProblem),
    /// It needs more memory than was given.
    NeedsMemory,
    /// It took too long.
    TimedOut,
    /// No process could be started, or it broke.
    Unavailable,
}

/// Makes the preview of a file, a JPEG, with at most this many bytes of memory for decoding, in another process. That process
/// has ended when the future is ready.
pub type MakePreview =
    Arc<dyn Fn(Vec<u8>, usize) -> BoxFuture<'static, Result<Vec<u8>, PreviewError>> + Send + Sync>;

/// The interface to darkrooms.
pub struct PreviewPool {
    develop: Option<MakePreview>,
    memory: Arc<Shares<Option<TeamId>>>,
    patience: Duration,
}

impl PreviewPool {
    /// A darkroom that develops with this function. Without one, there are no previews.
    pub fn new(develop: Option<MakePreview>) -> Self {
        Self {
            develop,
            memory: Shares::new(MEMORY),
            patience: PATIENCE,
        }
    }

    /// Whether there can be previews at all.
    pub(crate) fn is_there(&self) -> bool {
        self.develop.is_some()
    }

    /// The preview of an image. `load` reads its file; it is called when it is the holder's turn, and again if the picture
    /// turns out to be a large one. The holder is the caller's team, or the operators.
    ///
    /// # Errors
    /// There is no darkroom; the turn did not come in time; what `load` says; the image cannot be developed.
    pub(crate) async fn preview<L>(
        &self,
        holder: Option<TeamId>,
        load: impl Fn() -> L,
    ) -> Result<Vec<u8>, Refused>
    where
        L: Future<Output = Result<Vec<u8>, Refused>>,
    {
        match self.with(holder, USUAL, &load).await? {
            Err(PreviewError::NeedsMemory) => self.with(holder, LARGE, &load).await?,
            developed => developed,
        }
        .map_err(Refused::from)
    }

    async fn with<L>(
        &self,
        holder: Option<TeamId>,
        memory: usize,
        load: &impl Fn() -> L,
    ) -> Result<Result<Vec<u8>, PreviewError>, Refused>
    where
        L: Future<Output = Result<Vec<u8>, Refused>>,
    {
        let develop = self.develop.as_ref();
        let develop = Arc::clone(develop.ok_or(Refused::NoDarkroom)?);
        let turn: Share<_> = timeout(self.patience, self.memory.take(holder, memory, Limit::Fair))
            .await
            .map_err(|_| Refused::Overloaded)?;
        let file = load().await?;
        // If the client disconnects, the process still comes to its end, and its memory counts until then.
        let developing = tokio::spawn(async move {
            let developed = develop(file, memory).await;
            drop(turn);
            developed
        });
        developing.await.map_err(|_| Refused::Internal)
    }
}

impl From<PreviewError> for Refused {
    fn from(undeveloped: PreviewError) -> Self {
        match undeveloped {
            PreviewError::Problem(problem) => Self::no_preview(problem),
            // Not even with enough for every picture.
            PreviewError::NeedsMemory => Self::no_preview(ImageProblem::TooLarge),
            PreviewError::TimedOut => Self::PreviewTimedOut,
            PreviewError::Unavailable => Self::NoDarkroom,
        }
    }
}

#[cfg(test)]
mod tests;
