//! Where previews of images are made: in other processes, a few at a time.
//!
//! Each takes memory, so memory is what is handed out. One team can have half of it, and teams take turns.

use std::{sync::Arc, time::Duration};

use domain::{decision::ImageProblem, id::TeamId};
use fair_share::{Limit, Share, Shares};
use futures::future::BoxFuture;
use tokio::time::timeout;

use crate::Refused;

/// Memory for decoding, in bytes, in all preview processes of one API process together.
const MEMORY: usize = 512 << 20;
/// Enough for most pictures, of up to about 30 million pixels. So four are decoded at once.
const USUAL: usize = 128 << 20;
/// Enough for every picture. So two of them are decoded at once.
const LARGE: usize = 256 << 20;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(8);

/// Why there is no preview of an image.
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

/// Makes previews in other processes.
pub struct PreviewPool {
    make_preview: Option<MakePreview>,
    memory: Arc<Shares<Option<TeamId>>>,
    patience: Duration,
}

impl PreviewPool {
    /// A pool that makes previews with this function. Without one, there are no previews.
    pub fn new(make_preview: Option<MakePreview>) -> Self {
        Self {
            make_preview,
            memory: Shares::new(MEMORY),
            patience: PATIENCE,
        }
    }

    /// Whether there can be previews at all.
    pub(crate) fn is_there(&self) -> bool {
        self.make_preview.is_some()
    }

    /// The preview of an image. `load` reads its file; it is called when it is the holder's turn, and again if the picture
    /// turns out to be a large one. The holder is the caller's team, or the operators.
    ///
    /// # Errors
    /// No process can be started; the turn did not come in time; what `load` says; the image has no preview.
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
            made => made,
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
        let make_preview = self.make_preview.as_ref();
        let make_preview = Arc::clone(make_preview.ok_or(Refused::PreviewsUnavailable)?);
        let turn: Share<_> = timeout(self.patience, self.memory.take(holder, memory, Limit::Fair))
            .await
            .map_err(|_| Refused::Overloaded)?;
        let file = load().await?;
        // If the client disconnects, the process still comes to its end, and its memory counts until then.
        let making = tokio::spawn(async move {
            let made = make_preview(file, memory).await;
            drop(turn);
            made
        });
        making.await.map_err(|_| Refused::Internal)
    }
}

impl From<PreviewError> for Refused {
    fn from(error: PreviewError) -> Self {
        match error {
            PreviewError::Problem(problem) => Self::no_preview(problem),
            // Not even with enough for every picture.
            PreviewError::NeedsMemory => Self::no_preview(ImageProblem::TooLarge),
            PreviewError::TimedOut => Self::PreviewTimedOut,
            PreviewError::Unavailable => Self::PreviewsUnavailable,
        }
    }
}

#[cfg(test)]
mod tests;
