//! Kept answers of providers to whole texts, for equal texts of the same site, because spam
//! repeats. Only sites that enabled this look for one. If a lookup fails, this costs one request to
//! the provider and nothing else.

use std::time::{Duration, Instant};

use domain::{id::MediaId, score::Category};
use sha2::{Digest as _, Sha256};
use store::{
    PgPool,
    analysis::ToAnalyse,
    provider_answers::{AnswerKey, Answers, NewAnswer},
};
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::provider::{Answer, LimitedProvider, Lookup};

/// How long a lookup, or storing an answer, may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// The kept answers. None if the operator disabled them.
#[derive(Clone)]
pub(super) struct Cache {
    answers: Option<Answers>,
}

/// A question about a text, as a key for its answer.
pub(super) struct Asking<'a> {
    answers: &'a Answers,
    item: &'a ToAnalyse,
    key: AnswerKey,
}

/// An answer to an equal text.
pub(super) struct Found {
    pub(super) answer: Answer,
    /// The item that was shown to the provider.
    pub(super) media: MediaId,
    /// How long the lookup took.
    pub(super) elapsed: Duration,
}

impl Cache {
    /// Keeps at most `most` answers for each team.
    pub(super) fn new(pool: &PgPool, most: u32) -> Self {
        Self {
            answers: (most > 0).then(|| Answers::new(pool, most)),
        }
    }

    /// The question to look up before this provider is asked about these categories of the item's
    /// text. None if answers to it are not kept.
    pub(super) fn asking<'a>(
        &'a self,
        item: &'a ToAnalyse,
        provider: &LimitedProvider,
        categories: &[Category],
    ) -> Option<Asking<'a>> {
        let answers = self
            .answers
            .as_ref()
            .filter(|_| item.answers_hold.is_some())?;
        // A provider without requests costs nothing to ask.
        let access = provider.profile().access.as_ref()?;
        let policy = item.policy.as_deref();
        let question = access
            .fingerprint
            .and(if policy.is_some() { "policy" } else { "" })
            .and(policy.unwrap_or_default());
        let question = categories
            .iter()
            .fold(question, |all, category| all.and(category.as_str()));
        let text = Sha256::digest(item.text.as_deref()?);
        let hash = Sha256::new()
            .chain_update(question.bytes())
            .chain_update(text);
        Some(Asking {
            answers,
            item,
            key: AnswerKey(hash.finalize().into()),
        })
    }
}

impl Asking<'_> {
    /// This provider's kept answer to an equal text.
    pub(super) async fn find(&self, provider: &LimitedProvider) -> Option<Found> {
        let started = Instant::now();
        let looking = self.answers.find(self.item.team, self.item.site, self.key);
        let found = match timeout(PATIENCE, looking).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                debug!(media.id = %self.item.media, %error, "could not look up an earlier answer to an equal text");
                provider.count_lookup(Lookup::Failed);
                return None;
            }
            Err(_) => {
                provider.count_lookup(Lookup::Failed);
                return None;
            }
        };
        provider.count_lookup(if found.is_some() {
            Lookup::Hit
        } else {
            Lookup::Miss
        });
        found.map(|found| Found {
            answer: Answer {
                scores: found.scores,
                ..Answer::default()
            },
            media: found.media,
            elapsed: started.elapsed(),
        })
    }

    /// Keeps an answer to a whole text for the next lookup, unless a category is missing in it.
    pub(super) async fn keep(&self, answer: &Answer, categories: &[Category]) {
        let mut asked = categories.iter();
        if !asked.all(|category| answer.scores.get(*category).is_some()) {
            return;
        }
        let keeping = self.answers.keep(
            self.item.team,
            NewAnswer {
                media: self.item.media,
                key: self.key,
                scores: answer.scores,
            },
        );
        match timeout(PATIENCE, keeping).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                warn!(media.id = %self.item.media, %error, "could not keep an answer for equal texts");
            }
            Err(_) => {
                warn!(media.id = %self.item.media, "keeping an answer for equal texts took too long");
            }
        }
    }
}
