//! The built-in analysis: texts by [`builtin::Analyser`], nudity in images by [`builtin::image`]. It
//! needs no network and no key.
//!
//! It is work for processors. A short text is scored at once. What takes longer (a long text, the
//! encoder, an image) is done on threads of its own, a few at a time, divided among the teams.

use std::{num::NonZero, sync::Arc, thread::available_parallelism, time::Duration};

use builtin::{Analyser, CATEGORIES};
use builtin::{
    image::{Pixels, open_nsfw},
    text::Encoder,
};
use cpu_pool::BriefThreads;
use domain::{
    id::TeamId,
    image::ImageFormat,
    score::{Category, Scores},
};
use fair_share::{Limit, Shares};
use futures::{FutureExt as _, future::BoxFuture};
use picture::{Limits, Picture};
use tokio::time::timeout;

use super::{Answer, Content, Profile, Provider, ProviderError, Question, Scope};

/// The longest text that is scored at once, in bytes. It takes about a millisecond.
const SHORT: usize = 2_048;

/// What takes more processor time than this loses the priority of its thread: the encoder with a
/// long text. An image takes 75 ms on a slow processor.
const BRIEF: Duration = Duration::from_millis(100);

/// How long a text or an image waits for its team's turn. The job then tries again later.
const PATIENCE: Duration = Duration::from_secs(20);

/// What people read who ask why a text has no scores.
const UNREAD: &str =
    "The text, or a part of it, is not English. Only what the lexicons found has a score.";

/// The images that the model sees. It looks at 224 x 224 pixels, so more would only take time.
const IMAGES: Limits = Limits {
    bytes: 4 << 20,
    min_side: 1,
    max_side: 512,
    formats: &[ImageFormat::Jpeg],
};

/// Scores texts and images in this process.
pub struct Builtin {
    profile: Profile,
    analyser: Arc<Analyser>,
    /// Whether scoring any text takes long.
    is_thorough: bool,
    /// Divides the threads among the teams.
    turns: Arc<Shares<Option<TeamId>>>,
    threads: BriefThreads,
}

impl Builtin {
    /// The categories that it can score in texts.
    pub const TEXT: &[Category] = &CATEGORIES;
    /// The categories that it can score in images: nudity only.
    pub const IMAGE: &[Category] = &[Category::Adult];

    /// The analysis under this name, for these categories. The encoder is the operator's option.
    pub fn new(name: String, scope: Scope, encoder: Option<Encoder>) -> Self {
        let sees = !scope.image.is_empty();
        let is_thorough = encoder.is_some();
        let analyser = Analyser::new();
        let analyser = match encoder {
            Some(encoder) => analyser.with_encoder(Arc::new(encoder)),
            None => analyser,
        };
        // At least two, so that no team has all of them.
        let at_once = available_parallelism().map_or(1, NonZero::get).max(2);
        Self {
            profile: Profile {
                name,
                kind: "builtin",
                scope,
                is_narrow: true,
                limits: sees.then_some(IMAGES),
                piece_bytes: usize::MAX,
                told: &[],
                cost_counter: Arc::default(),
                access: None,
            },
            analyser: Arc::new(analyser),
            is_thorough,
            turns: Shares::new(at_once),
            threads: BriefThreads::new("builtin", at_once),
        }
    }

    async fn scores(&self, question: Question<'_>) -> Result<Scores, ProviderError> {
        match question.content {
            Content::Text(text) if text.len() <= SHORT && !self.is_thorough => {
                Ok(self.analyser.analyse(text))
            }
            Content::Text(text) => {
                let (analyser, text) = (Arc::clone(&self.analyser), text.to_owned());
                self.slowly(question.team, move || Ok(analyser.analyse(&text)))
                    .await
            }
            Content::Image(image) => {
                let file = image.bytes.clone();
                self.slowly(question.team, move || adult(&file)).await
            }
        }
    }

    /// Works on another thread when it is the team's turn.
    async fn slowly(
        &self,
        team: Option<TeamId>,
        work: impl FnOnce() -> Result<Scores, ProviderError> + Send + 'static,
    ) -> Result<Scores, ProviderError> {
        let turn = timeout(PATIENCE, self.turns.take(team, 1, Limit::Fair));
        let turn = turn.await.map_err(|_| ProviderError::TimedOut)?;
        let work = move || {
            // The caller may be gone before the end. The thread is in use until then.
            let _turn = turn;
            work()
        };
        self.threads
            .run(BRIEF, work, || {})
            .await
            .map_err(|_| ProviderError::Malformed("the analysis panicked"))?
    }
}

impl Provider for Builtin {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        async move {
            let (ours, all) = match question.content {
                Content::Text(_) => (&self.profile.scope.text, Self::TEXT),
                Content::Image(_) => (&self.profile.scope.image, Self::IMAGE),
            };
            let scores = self.scores(question).await?;
            let is_unread = scores.iter().count() < all.len();
            let scores = scores
                .iter()
                .filter(|(category, _)| ours.contains(category));
            Ok(Answer {
                scores: scores.collect(),
                raw: is_unread.then(|| UNREAD.to_owned()),
                ..Answer::default()
            })
        }
        .boxed()
    }
}

/// How likely it is that an image shows nudity, with three digits. Nothing else was looked for, so
/// nothing else has a score.
fn adult(file: &[u8]) -> Result<Scores, ProviderError> {
    let picture = Picture::decode(file)
        .map_err(|_| ProviderError::Malformed("a rendition cannot be decoded"))?;
    let pixels = Pixels::new(picture.width(), picture.height(), picture.rgb())
        .ok_or(ProviderError::Malformed("a rendition has no pixels"))?;
    let probability = f64::from(open_nsfw().probability(pixels));
    let rounded = (probability * 1_000.0).round() / 1_000.0;
    Ok([(Category::Adult, rounded)].into_iter().collect())
}

#[cfg(test)]
mod tests;
