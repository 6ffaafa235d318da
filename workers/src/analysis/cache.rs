//! Answers of providers to whole texts, for equal texts of the same site: spam repeats. Only sites that want it look for one. Whatever
//! goes wrong with a look costs a request to the provider and nothing else.

use std::time::{Duration, Instant};

use domain::{id::MediaId, score::Category};
use sha2::{Digest as _, Sha256};
use store::{
    PgPool,
    analysis::ToAnalyse,
    answers::{AnswerKey, Answers, NewAnswer},
};
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::provider::{Answer, Guarded, Lookup};

/// How long a look, or keeping an answer, may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// The answers that are kept; none where the operator wants none.
#[derive(Clone)]
pub(super) struct Cache {
    answers: Option<Answers>,
}

/// What stands for a question about a text.
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
    /// How long the look took.
    pub(super) elapsed: Duration,
}

impl Cache {
    /// Answers of which each team may have so many.
    pub(super) fn new(pool: &PgPool, most: u32) -> Self {
        Self {
            answers: (most > 0).then(|| Answers::new(pool, most)),
        }
    }

    /// What may be looked for before this provider is asked for these categories of the item's text; none if answers to it are not to be
    /// kept.
    pub(super) fn asking<'a>(
        &'a self,
        item: &'a ToAnalyse,
        provider: &Guarded,
        categories: &[Category],
    ) -> Option<Asking<'a>> {
        let answers = self
            .answers
            .as_ref()
            .filter(|_| item.answers_hold.is_some())?;
        // Whoever needs no request is asked.
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
    /// What this provider said of an equal text, if that is kept.
    pub(super) async fn find(&self, provider: &Guarded) -> Option<Found> {
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

    /// Keeps an answer to all of the text, unless it leaves out something that was asked for: the next look may find it.
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
