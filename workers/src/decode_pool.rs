//! Where pictures are decoded: on threads of their own, and within a fixed amount of memory.
//!
//! A file of a few kilobytes may be a picture of hundreds of megabytes, and 64 jobs run at once. So
//! each picture waits for memory: first for the file itself ([`DecodePool::hold`]), then for what
//! decoding it takes ([`DecodePool::decode`]). A job that waits for pixels holds its file, and never
//! the reverse, so there is no deadlock. Both kinds of memory are divided among the teams, and
//! teams take turns: many pictures of one team delay another team's picture by one.
//!
//! Animations take seconds, still pictures less than one. So animations have their own memory, and
//! no still picture waits for them. Only a few are decoded at once, because each keeps a processor
//! busy.

#[cfg(test)]
mod tests;

use std::{num::NonZero, sync::Arc, thread};

use bytes::Bytes;
use cpu_pool::Threads;
use domain::{decision::ImageProblem, id::TeamId};
use fair_share::{Limit, Share, Shares};
use picture::{Animation, AnimationSettings, Claim, Frames, Limits, MAX_MEMORY, Picture};
use tracing::warn;

/// Memory for the files of a process, in bytes.
const FILES: usize = 256 << 20;
/// Memory for the pixels of a process and for its decoders, in bytes. The largest permitted picture
/// fits exactly.
const PIXELS: usize = MAX_MEMORY;
/// Memory for the animations of a process, in bytes. The largest permitted animation fits exactly.
const ANIMATIONS: usize = 128 << 20;
/// The most animations that are decoded at once, on machines with at least as many processors.
/// There are always at least two places, so that no team has all of them.
const AT_ONCE: usize = 8;

/// The decode pool of a process. Clones are the same one.
#[derive(Clone, Debug)]
pub struct DecodePool {
    files: Arc<Shares<TeamId>>,
    pixels: Arc<Shares<TeamId>>,
    animations: Arc<Shares<TeamId>>,
    bounds: AnimationSettings,
    /// Decode animations, which may take seconds, at a low priority.
    threads: Arc<Threads>,
}

/// Room for a file, until dropped.
#[derive(Debug)]
pub struct Held {
    _room: Share<TeamId>,
}

/// Room to decode an animation.
#[derive(Debug)]
pub(crate) struct AnimationSlot {
    animation: Animation,
    room: Share<TeamId>,
    threads: Arc<Threads>,
}

impl Default for DecodePool {
    fn default() -> Self {
        Self::new(AnimationSettings::default())
    }
}

impl DecodePool {
    /// An empty pool, with these bounds for animations.
    pub fn new(bounds: AnimationSettings) -> Self {
        Self {
            files: Shares::new(FILES),
            pixels: Shares::new(PIXELS),
            animations: Shares::new(ANIMATIONS),
            bounds,
            threads: Arc::new(Threads::start("animation", at_once())),
        }
    }

    /// Waits for room for a team's file of up to `bytes` bytes. Call it before you load the file,
    /// and keep the result while you hold the file.
    pub async fn hold(&self, team: TeamId, bytes: usize) -> Held {
        Held {
            _room: self.files.take(team, bytes, Limit::Fair).await,
        }
    }

    /// Decodes a team's file and calls `work` with its picture, on a thread for long work.
    ///
    /// # Errors
    /// Those of [`Picture::decode`] and of `work`. A decoder that panics counts as a file that
    /// cannot be decoded.
    pub async fn decode<T: Send + 'static>(
        &self,
        team: TeamId,
        file: Bytes,
        work: impl FnOnce(&Picture) -> Result<T, ImageProblem> + Send + 'static,
    ) -> Result<T, ImageProblem> {
        let claim = Claim::of(&file)?;
        let room = self.pixels.take(team, claim.memory(), Limit::Fair).await;
        let developing = tokio::task::spawn_blocking(move || {
            // The caller may be gone before the end. The memory is in use until then.
            let _room = room;
            work(&claim.decode(&file)?)
        });
        developing.await.unwrap_or_else(|error| {
            warn!(%error, "could not decode a picture");
            Err(ImageProblem::Undecodable)
        })
    }

    /// What a file says about its frames. None if it is a still picture or cannot be decoded.
    pub(crate) fn animation(&self, file: &[u8]) -> Option<Animation> {
        Animation::of(file, &self.bounds, ANIMATIONS as u64)
    }

    /// Waits for room to decode a team's animation.
    pub(crate) async fn animation_slot(&self, team: TeamId, animation: Animation) -> AnimationSlot {
        // Never more animations at once than threads.
        let least = ANIMATIONS / at_once();
        let bytes = animation.memory().max(least);
        AnimationSlot {
            animation,
            room: self.animations.take(team, bytes, Limit::Fair).await,
            threads: Arc::clone(&self.threads),
        }
    }
}

/// How many animations are decoded at once.
fn at_once() -> usize {
    let processors = thread::available_parallelism().map_or(2, NonZero::get);
    processors.clamp(2, AT_ONCE)
}

impl AnimationSlot {
    /// Decodes the file, and makes renditions of some of its frames, on a thread of a low priority: it may take seconds.
    ///
    /// # Errors
    /// The first frame cannot be decoded, or no rendition is within the limits.
    pub(crate) async fn frames(self, file: Bytes, limits: Limits) -> Result<Frames, ImageProblem> {
        let Self {
            animation,
            room,
            threads,
        } = self;
        let projecting = threads.run(move || {
            let _room = room;
            animation.frames(&file, &limits)
        });
        projecting.await.unwrap_or_else(|error| {
            warn!(%error, "could not decode an animation");
            Err(ImageProblem::Undecodable)
        })
    }
}
