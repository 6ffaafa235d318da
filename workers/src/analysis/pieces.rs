//! A text is shown to a provider in pieces that it takes, a few at a time. Each piece is a request with a turn and a deadline of
//! its own. What was said of a piece is kept until all are done, so that it is asked for, and paid for, once.

use std::time::{Duration, Instant};

use domain::{
    score::{Category, Scores},
    throttle::Size,
};
use futures::{StreamExt as _, stream::FuturesUnordered};
use store::{Error, analysis::Piece};

use crate::provider::{self, Answer, Content, Desk, ProviderError, Question, Reply, Turn, merge};

/// Pieces of one text that are under way at the same time.
const AT_ONCE: usize = 4;

/// What became of a text that was shown to a provider.
pub(super) enum Asked {
    /// An answer to all of it, and how long that took in this run.
    Said(Answer, Duration),
    /// Nobody is to ask again for so long.
    Paused(Duration),
    /// No answer to one piece, and how long that took.
    Failed(ProviderError, Duration),
    /// The run has no time for the rest.
    OutOfTime,
}

/// What is shown.
pub(super) struct Text<'a> {
    /// The whole text.
    pub(super) whole: &'a str,
    /// What is to be scored.
    pub(super) categories: &'a [Category],
    /// The site's own policy.
    pub(super) policy: Option<&'a str>,
    /// What is kept of earlier runs, by any provider.
    pub(super) kept: &'a [Piece],
    /// Whether the item has no further attempt.
    pub(super) is_last_attempt: bool,
}

/// How one piece ended.
enum Ended {
    Replied(Reply),
    /// It had no turn. There may be one in so long.
    TurnedAway(Duration),
}

/// What is known of a piece.
struct Said {
    scores: Scores,
    raw: Option<String>,
    /// Whether it was said in this run.
    is_new: bool,
}

impl Text<'_> {
    /// Shows it to a provider, piece by piece, as long as there is time. What was said of pieces, unless all of them are done, comes
    /// beside what became of it.
    ///
    /// # Errors
    /// How it stands with the provider could not be read.
    pub(super) async fn show(
        &self,
        desk: &Desk,
        has_time: impl Fn() -> bool,
    ) -> Result<(Asked, Vec<Piece>), Error> {
        let started = Instant::now();
        let pieces = desk.pieces(self.whole);
        let mut said: Vec<Option<Said>> =
            pieces.iter().map(|piece| self.kept(desk, piece)).collect();
        desk.count(provider::Piece::Kept, said.iter().flatten().count());
        // The next one is at the end.
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
                let asking = self.ask(desk, pieces[piece]);
                under_way.push(async move { (piece, asking.await) });
            }
            let Some((piece, ended)) = under_way.next().await else {
                break;
            };
            hold = false;
            let ended = ended?;
            if self.is_to_repeat(&ended) {
                desk.count(provider::Piece::Repeated, 1);
            }
            match ended {
                Ended::Replied(Reply::Said(answer, _)) => {
                    said[piece] = Some(Said {
                        scores: answer.scores,
                        raw: answer.raw,
                        is_new: true,
                    });
                }
                Ended::Replied(Reply::Failed(error, elapsed)) => {
                    end = Some(Asked::Failed(error, elapsed));
                }
                // Another piece may be the one that tries for all.
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
            Some(self.piece(desk, piece, said))
        });
        let learned = learned.collect();
        // All that ended is `end`, or else something is missing without a reason.
        Ok((end.unwrap_or(Asked::OutOfTime), learned))
    }

    async fn ask(&self, desk: &Desk, piece: &str) -> Result<Ended, Error> {
        let seat = match desk.turn(Size::of_text(piece.len())).await? {
            Turn::Open(seat) => seat,
            Turn::Paused(wait) => return Ok(Ended::TurnedAway(wait)),
        };
        desk.count(provider::Piece::Asked, 1);
        let question = Question {
            content: Content::Text(piece),
            categories: self.categories,
            policy: self.policy,
        };
        Ok(Ended::Replied(seat.ask(question).await))
    }

    /// Whether a piece was shown in vain and is to be shown again.
    fn is_to_repeat(&self, ended: &Ended) -> bool {
        match ended {
            Ended::Replied(Reply::Paused(_)) => true,
            Ended::Replied(Reply::Failed(error, _)) => error.is_passing() && !self.is_last_attempt,
            Ended::Replied(Reply::Said(..)) | Ended::TurnedAway(_) => false,
        }
    }

    /// What was said of this piece in an earlier run, if all was asked for that is now.
    fn kept(&self, desk: &Desk, piece: &str) -> Option<Said> {
        let start = self.start(piece);
        let mut kept = self.kept.iter();
        let kept = kept.find(|kept| {
            kept.provider == desk.name()
                && (kept.start, kept.length) == (start, piece.len())
                && self.categories.iter().all(|c| kept.categories.contains(c))
        })?;
        Some(Said {
            scores: kept.scores,
            raw: kept.raw.clone(),
            is_new: false,
        })
    }

    fn piece(&self, desk: &Desk, piece: &str, said: Said) -> Piece {
        Piece {
            provider: desk.name().to_owned(),
            start: self.start(piece),
            length: piece.len(),
            categories: self.categories.to_vec(),
            scores: said.scores,
            raw: said.raw,
        }
    }

    /// Where a piece of it begins.
    fn start(&self, piece: &str) -> usize {
        piece.as_ptr() as usize - self.whole.as_ptr() as usize
    }
}
