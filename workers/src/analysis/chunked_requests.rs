//! A long text is shown to a provider in pieces, and an animation in some of its frames, a few at a
//! time. Each piece is a request with its own turn and deadline. The answers to pieces are kept
//! until all are done, so that each piece is asked about, and paid for, once.

use std::time::{Duration, Instant};

use domain::{
    id::TeamId,
    score::{Category, Scores},
    throttle::Size,
};
use futures::{StreamExt as _, stream::FuturesUnordered};
use picture::Frames;
use store::{Error, analysis::Piece};

use crate::provider::{
    self, Answer, Content, LimitedProvider, ProviderError, Question, Reply, Seat, Turn, merge,
};

/// Pieces of one text, or frames of one image, that are under way at the same time.
const AT_ONCE: usize = 4;

/// What became of a text or an image that was shown to a provider.
pub(super) enum Asked {
    /// An answer to all of it, and how long that took in this run.
    Said(Answer, Duration),
    /// The provider is paused for this time.
    Paused(Duration),
    /// No answer to one piece, and how long that took.
    Failed(ProviderError, Duration),
    /// The run has no time for the rest.
    OutOfTime,
}

/// What one request shows.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    content: Content<'a>,
    /// Where it begins, in bytes of the text, or which frame of the image it is.
    start: usize,
    /// The number of its bytes, or 1 for a frame.
    length: usize,
}

impl<'a> Shown<'a> {
    /// A text in the pieces that a provider takes.
    pub(super) fn text(provider: &LimitedProvider, whole: &'a str) -> Vec<Self> {
        let pieces = provider.pieces(whole).into_iter();
        let shown = pieces.map(|piece| Self {
            content: Content::Text(piece),
            start: piece.as_ptr() as usize - whole.as_ptr() as usize,
            length: piece.len(),
        });
        shown.collect()
    }

    /// The frames of an image.
    pub(super) fn frames(frames: &'a Frames) -> Vec<Self> {
        let shown = frames.frames.iter().map(|frame| Self {
            content: Content::Image(&frame.rendition),
            start: frame.number,
            length: 1,
        });
        shown.collect()
    }

    fn size(&self) -> Size {
        match self.content {
            Content::Text(piece) => Size::of_text(piece.len()),
            Content::Image(_) => Size::IMAGE,
        }
    }
}

/// A text or an image, shown piece by piece.
pub(super) struct Pieces<'a> {
    /// All of it.
    pub(super) shown: Vec<Shown<'a>>,
    /// The categories to score.
    pub(super) categories: &'a [Category],
    /// The site's own policy.
    pub(super) policy: Option<&'a str>,
    /// Whose content it is.
    pub(super) team: TeamId,
    /// The kept answers of earlier runs, by any provider.
    pub(super) kept: &'a [Piece],
    /// Whether the item has no further attempt.
    pub(super) is_last_attempt: bool,
}

/// How one piece ended.
enum Ended {
    Replied(Reply),
    /// It had no turn. There may be one after this time.
    TurnedAway(Duration),
}

/// The answer to a piece.
struct Said {
    scores: Scores,
    raw: Option<String>,
    /// Whether it was given in this run.
    is_new: bool,
}

impl Pieces<'_> {
    /// Shows it to a provider, piece by piece, while there is time. If the caller has a turn
    /// already, the first piece uses it. Returns the outcome and, unless all pieces are done, the
    /// answers to pieces.
    ///
    /// # Errors
    /// The provider's state could not be read.
    pub(super) async fn show(
        &self,
        provider: &LimitedProvider,
        mut seat: Option<Seat<'_>>,
        has_time: impl Fn() -> bool,
    ) -> Result<(Asked, Vec<Piece>), Error> {
        let started = Instant::now();
        let pieces = &self.shown;
        let mut said: Vec<Option<Said>> = pieces
            .iter()
            .map(|piece| self.kept(provider, *piece))
            .collect();
        provider.count(provider::Piece::Kept, said.iter().flatten().count());
        // The last one is shown next.
        let mut waiting: Vec<usize> = (0..pieces.len()).rev().collect();
        waiting.retain(|piece| said[*piece].is_none());
        let mut under_way = FuturesUnordered::new();
        let mut end = None;
        let (mut hold, mut is_begun) = (false, false);
        loop {
            while end.is_none() && !hold && under_way.len() < AT_ONCE {
                let Some(piece) = waiting.pop() else { break };
                if is_begun && !has_time() {
                    end = Some(Asked::OutOfTime);
                    break;
                }
                is_begun = true;
                let asking = self.ask(provider, seat.take(), pieces[piece]);
                under_way.push(async move { (piece, asking.await) });
            }
            let Some((piece, ended)) = under_way.next().await else {
                break;
            };
            hold = false;
            let ended = ended?;
            if self.is_to_repeat(&ended) {
                provider.count(provider::Piece::Repeated, 1);
            }
            match ended {
                Ended::Replied(Reply::Said(answer)) => {
                    said[piece] = Some(Said {
                        scores: answer.scores,
                        raw: answer.raw,
                        is_new: true,
                    });
                }
                Ended::Replied(Reply::Failed(error, elapsed)) => {
                    end = Some(Asked::Failed(error, elapsed));
                }
                // Another piece may be the probe that the others wait for.
                Ended::TurnedAway(_) if end.is_none() && !under_way.is_empty() => {
                    waiting.push(piece);
                    hold = true;
                }
                Ended::TurnedAway(wait) | Ended::Replied(Reply::Paused(wait)) => {
                    end.get_or_insert(Asked::Paused(wait));
                }
            }
        }
        if said.iter().all(Option::is_some) {
            let said = said.iter().flatten();
            let answer = merge(said.map(|said| (&said.scores, said.raw.as_deref())));
            return Ok((Asked::Said(answer, started.elapsed()), Vec::new()));
        }
        let learned = pieces.iter().zip(said).filter_map(|(piece, said)| {
            let said = said.filter(|said| said.is_new)?;
            Some(self.piece(provider, *piece, said))
        });
        let learned = learned.collect();
        // If no piece ended otherwise, something is missing without a reason.
        Ok((end.unwrap_or(Asked::OutOfTime), learned))
    }

    async fn ask(
        &self,
        provider: &LimitedProvider,
        seat: Option<Seat<'_>>,
        piece: Shown<'_>,
    ) -> Result<Ended, Error> {
        let question = Question {
            content: piece.content,
            categories: self.categories,
            policy: self.policy,
            team: Some(self.team),
        };
        let seat = match seat {
            Some(seat) => seat,
            None => match provider.turn(piece.size()).await? {
                Turn::Open(seat) => seat,
                Turn::Paused(wait) => return Ok(Ended::TurnedAway(wait)),
            },
        };
        provider.count(provider::Piece::Asked, 1);
        Ok(Ended::Replied(seat.ask(question).await))
    }

    /// Whether showing a piece failed and it should be shown again.
    fn is_to_repeat(&self, ended: &Ended) -> bool {
        match ended {
            Ended::Replied(Reply::Paused(_)) => true,
            Ended::Replied(Reply::Failed(error, _)) => error.is_passing() && !self.is_last_attempt,
            Ended::Replied(Reply::Said(_)) | Ended::TurnedAway(_) => false,
        }
    }

    /// The kept answer to this piece, if it covers all categories that are asked for now.
    fn kept(&self, provider: &LimitedProvider, piece: Shown<'_>) -> Option<Said> {
        let place = (piece.content.modality(), piece.start, piece.length);
        let mut kept = self.kept.iter();
        let kept = kept.find(|kept| {
            kept.provider == provider.name()
                && (kept.modality, kept.start, kept.length) == place
                && self.categories.iter().all(|c| kept.categories.contains(c))
        })?;
        Some(Said {
            scores: kept.scores,
            raw: kept.raw.clone(),
            is_new: false,
        })
    }

    fn piece(&self, provider: &LimitedProvider, piece: Shown<'_>, said: Said) -> Piece {
        Piece {
            provider: provider.name().to_owned(),
            modality: piece.content.modality(),
            start: piece.start,
            length: piece.length,
            categories: self.categories.to_vec(),
            scores: said.scores,
            raw: said.raw,
        }
    }
}
