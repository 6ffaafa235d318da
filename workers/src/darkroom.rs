//! Where pictures are decoded: apart from the threads that serve others, and within the memory that a process has for it.
//!
//! A file of a few kilobytes may be a picture of hundreds of megabytes, and 64 jobs run at once. So each picture waits for
//! memory: first for the file itself ([`Darkroom::hold`]), then for what decoding it takes ([`Darkroom::develop`]). A file is
//! held while its pixels are waited for, never the other way round, so nobody waits in a circle. Both are divided among the
//! teams, and teams take turns: the pictures of one team delay another team's by one.
//!
//! Animations take seconds where still pictures take a part of one. They have memory of their own, so that no still picture
//! waits for them, and only a few are decoded at once: each takes a processor's time.

use std::{num::NonZero, sync::Arc, thread};

use bytes::Bytes;
use domain::{decision::ImageProblem, id::TeamId};
use shares::{Limit, Share, Shares};
use threads::Threads;
use tracing::warn;

use crate::picture::{Animation, AnimationSettings, Claim, Film, Limits, MAX_MEMORY, Picture};

/// Memory for the files of a process, in bytes.
const FILES: usize = 256 << 20;
/// Memory for the pixels of a process, in bytes, with what decoders take. The greediest picture fits exactly.
const PIXELS: usize = MAX_MEMORY;
/// Memory for the animations of a process, in bytes. The greediest one fits exactly.
const ANIMATIONS: usize = 128 << 20;
/// Animations that are decoded at once at most, on machines with as many processors. With at least two, no team has all places.
const AT_ONCE: usize = 8;

/// The darkroom of a process. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Darkroom {
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
pub(crate) struct Projector {
    animation: Animation,
    room: Share<TeamId>,
    threads: Arc<Threads>,
}

impl Default for Darkroom {
    fn default() -> Self {
        Self::new(AnimationSettings::default())
    }
}

impl Darkroom {
    /// An empty one, with these bounds of animations.
    pub fn new(bounds: AnimationSettings) -> Self {
        Self {
            files: Shares::new(FILES),
            pixels: Shares::new(PIXELS),
            animations: Shares::new(ANIMATIONS),
            bounds,
            threads: Arc::new(Threads::start("animation", at_once())),
        }
    }

    /// Waits for room for a team's file of up to so many bytes. To be taken before it is loaded, and kept as long as it is.
    pub async fn hold(&self, team: TeamId, bytes: usize) -> Held {
        Held {
            _room: self.files.take(team, bytes, Limit::Fair).await,
        }
    }

    /// Decodes a team's file and does something with its picture, on a thread where that may take its time.
    ///
    /// # Errors
    /// Those of [`Picture::decode`] and of `work`. A decoder that panics did not understand the file either.
    pub async fn develop<T: Send + 'static>(
        &self,
        team: TeamId,
        file: Bytes,
        work: impl FnOnce(&Picture) -> Result<T, ImageProblem> + Send + 'static,
    ) -> Result<T, ImageProblem> {
        let claim = Claim::of(&file)?;
        let room = self.pixels.take(team, claim.memory(), Limit::Fair).await;
        let developing = tokio::task::spawn_blocking(move || {
            // Whoever asked may be gone by the end; the memory is in use until then.
            let _room = room;
            work(&claim.decode(&file)?)
        });
        developing.await.unwrap_or_else(|error| {
            warn!(%error, "could not decode a picture");
            Err(ImageProblem::Undecodable)
        })
    }

    /// What a file says of its frames; none if it is a still picture, or nothing that could be decoded.
    pub(crate) fn animation(&self, file: &[u8]) -> Option<Animation> {
        Animation::of(file, &self.bounds, ANIMATIONS as u64)
    }

    /// Waits for room to decode a team's animation.
    pub(crate) async fn projector(&self, team: TeamId, animation: Animation) -> Projector {
        // So that no more are decoded at once than there are threads.
        let least = ANIMATIONS / at_once();
        let bytes = animation.memory().max(least);
        Projector {
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

impl Projector {
    /// Decodes the file, and makes renditions of some of its frames, on a thread of a low priority: it may take seconds.
    ///
    /// # Errors
    /// Not even the first frame could be decoded, or no rendition obeys the limits.
    pub(crate) async fn film(self, file: Bytes, limits: Limits) -> Result<Film, ImageProblem> {
        let Self {
            animation,
            room,
            threads,
        } = self;
        let projecting = threads.run(move || {
            let _room = room;
            animation.film(&file, &limits)
        });
        projecting.await.unwrap_or_else(|error| {
            warn!(%error, "could not decode an animation");
            Err(ImageProblem::Undecodable)
        })
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::sync::{mpsc, oneshot};
    use uuid::Uuid;

    use super::*;

    fn team(number: usize) -> TeamId {
        Uuid::from_u128(number as u128).into()
    }

    /// A PNG of 20 million black pixels: some kilobytes that take 80 MB to decode.
    fn black() -> Bytes {
        use image::{ExtendedColorType, ImageEncoder as _, codecs::png::PngEncoder};
        let mut file = Vec::new();
        let pixels = vec![0; 5_000 * 4_000];
        PngEncoder::new(&mut file)
            .write_image(&pixels, 5_000, 4_000, ExtendedColorType::L8)
            .unwrap();
        file.into()
    }

    #[tokio::test]
    async fn no_more_pictures_are_decoded_at_once_than_there_is_memory_for() {
        let (darkroom, file) = (Darkroom::default(), black());
        let memory = Claim::of(&file).unwrap().memory();
        let (arrive, mut arrived) = mpsc::unbounded_channel();
        let developing: Vec<_> = (0..=PIXELS / memory)
            .map(|number| {
                let (darkroom, file, arrive) = (darkroom.clone(), file.clone(), arrive.clone());
                tokio::spawn(async move {
                    let work = move |picture: &Picture| {
                        let (go, wait) = oneshot::channel();
                        arrive.send(go).unwrap();
                        wait.blocking_recv().unwrap();
                        Ok(picture.rgb().len())
                    };
                    darkroom.develop(team(number), file, work).await
                })
            })
            .collect();
        let mut inside = Vec::new();
        for _ in 0..PIXELS / memory {
            inside.push(arrived.recv().await.unwrap());
        }
        let left = PIXELS - darkroom.pixels.in_use();
        assert!(left < memory, "there is room for one more: {left}");
        assert!(arrived.try_recv().is_err(), "and one more is there");
        // Where one leaves, the next one comes.
        inside.pop().unwrap().send(()).unwrap();
        inside.push(arrived.recv().await.unwrap());
        for go in inside {
            go.send(()).unwrap();
        }
        for developed in developing {
            assert_eq!(developed.await.unwrap(), Ok(5_000 * 4_000 * 3));
        }
    }

    #[tokio::test]
    async fn the_animations_of_one_team_leave_room_for_those_of_another_and_for_still_pictures() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/fixtures/images/animated.gif"
        );
        let (darkroom, file) = (Darkroom::default(), std::fs::read(path).unwrap());
        let animation = darkroom.animation(&file).unwrap();
        let place = |number| darkroom.projector(team(number), animation).now_or_never();
        let places: Vec<_> = std::iter::from_fn(|| place(1)).collect();
        assert!((1..AT_ONCE).contains(&places.len()), "{}", places.len());
        assert!(darkroom.animations.in_use() < ANIMATIONS);
        let other = place(2).expect("there is room for another team");
        assert!(place(1).is_none());
        assert_eq!(darkroom.pixels.in_use(), 0);

        let limits = Limits {
            bytes: 1 << 20,
            min_side: 1,
            max_side: 2_048,
            formats: &[domain::image::ImageFormat::Jpeg],
        };
        let reel = other.film(file.into(), limits).await.unwrap();
        assert!(reel.frames.len() > 1);
        drop(places);
        assert_eq!(darkroom.animations.in_use(), 0);
    }

    #[tokio::test]
    async fn work_that_panics_is_a_picture_that_could_not_be_decoded_and_frees_its_room() {
        let darkroom = Darkroom::default();
        let answer = darkroom
            .develop::<()>(team(1), black(), |_| panic!("a test's"))
            .await;
        assert_eq!(answer, Err(ImageProblem::Undecodable));
        assert_eq!(darkroom.pixels.in_use(), 0);
    }

    #[tokio::test]
    async fn the_pictures_of_one_team_delay_another_team_by_one() {
        let (darkroom, file) = (Darkroom::default(), black());
        let (arrive, mut arrived) = mpsc::channel(64);
        let develop = |number: usize| {
            let (darkroom, file, arrive) = (darkroom.clone(), file.clone(), arrive.clone());
            tokio::spawn(async move {
                let work = move |_: &Picture| {
                    let (go, wait) = oneshot::channel();
                    arrive.blocking_send((number, go)).unwrap();
                    wait.blocking_recv().unwrap();
                    Ok(())
                };
                darkroom.develop(team(number), file, work).await
            })
        };
        let mut developing: Vec<_> = (0..16).map(|_| develop(1)).collect();
        let (_, first) = arrived.recv().await.unwrap();
        developing.push(develop(2));
        let mut inside = vec![first];
        loop {
            let (number, go) = arrived.recv().await.unwrap();
            inside.push(go);
            if number == 2 {
                break;
            }
        }
        assert!(inside.len() < 8, "{} pictures went before", inside.len());
        drop(arrive);
        while let Some(go) = inside.pop() {
            go.send(()).unwrap();
            if let Ok((_, next)) = arrived.try_recv() {
                inside.push(next);
            }
        }
        while let Some((_, go)) = arrived.recv().await {
            go.send(()).unwrap();
        }
        for developed in developing {
            assert_eq!(developed.await.unwrap(), Ok(()));
        }
    }
}
