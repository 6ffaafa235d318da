//! What the clients of all other services need: items are submitted, and their verdicts are waited for.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use domain::{key::SecretHash, limit::RatePolicy, media::Action, score::Category};
use front::Held;
use futures::future::{join_all, try_join_all};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    caller,
    idempotency::IdempotencyHeader,
    problem::{Code, Refusal},
    public::{Asked, Keep, Public, SubmitRequest, Verdict, accept},
};

/// How long an answer waits for its verdicts.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request with a site key.
pub(super) struct Call<'a> {
    pub(super) public: &'a Public,
    pub(super) key: SecretHash,
    pub(super) arrived: Instant,
    /// The memory of its body.
    pub(super) body: Held,
}

impl Call<'_> {
    /// Submits items, each of which counts against the limits of the key, and waits for their verdicts. All texts get scores.
    ///
    /// # Errors
    /// An item is refused; others may be stored then. There is a verdict missing after [`PATIENCE`]; all items are stored then.
    pub(super) async fn judged(
        self,
        wanted: Vec<(SubmitRequest, Keep)>,
    ) -> Result<Vec<Judged>, Refusal> {
        let Self {
            public,
            key,
            arrived,
            body,
        } = self;
        for _ in &wanted {
            caller::admitted(public.rates.admit(key, RatePolicy::Submit).await?)?;
        }
        let stored = wanted.iter().map(|(request, keep)| async move {
            let asked = Asked {
                key,
                idempotency: &IdempotencyHeader::none(),
                request,
                arrived,
                wait: Some(PATIENCE),
                is_analysed: true,
                keep: *keep,
            };
            accept(public, asked).await
        });
        let stored = try_join_all(stored).await?;
        // Their memory is not needed while the request waits.
        drop((wanted, body));
        let verdicts = stored.into_iter().map(|stored| stored.verdict(public, key));
        let verdicts = join_all(verdicts).await;
        verdicts
            .into_iter()
            .map(|verdict| Judged::of(verdict.ok_or_else(late)?))
            .collect()
    }
}

/// An item that has a verdict.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    scores: BTreeMap<String, f64>,
}

/// What is read of `moderation_details`.
#[derive(Default, Deserialize)]
struct Details {
    ai_analysis: Option<BTreeMap<String, f64>>,
}

impl Judged {
    fn of(verdict: Verdict) -> Result<Self, Refusal> {
        let details = verdict.details.as_ref();
        let details: Option<Details> = details
            .map(|details| serde_json::from_str(details.get()))
            .transpose()
            .map_err(|_| Refusal::internal())?;
        let scores = details.unwrap_or_default().ai_analysis.unwrap_or_default();
        Ok(Self { verdict, scores })
    }

    #[cfg(test)]
    pub(super) fn with(verdict: Verdict, scores: &[(Category, f64)]) -> Self {
        let scores = scores
            .iter()
            .map(|(category, score)| (category.as_str().to_owned(), *score));
        Self {
            verdict,
            scores: scores.collect(),
        }
    }

    /// The score of a category, from 0 to 1. None: it was not checked.
    pub(super) fn score(&self, category: Category) -> Option<f64> {
        self.scores.get(category.as_str()).copied()
    }
}

/// The item behind an answer, in a member that only we send.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    media_id: Uuid,
    status: &'static str,
    action: Option<&'static str>,
}

impl From<&Judged> for Item {
    fn from(judged: &Judged) -> Self {
        let Verdict { media, status, .. } = &judged.verdict;
        Self {
            media_id: media.as_uuid(),
            status: status.as_str(),
            action: status.action().map(Action::as_str),
        }
    }
}

/// The item is stored, and gets its verdict later. A client that repeats the request stores another one.
fn late() -> Refusal {
    Refusal::new(
        Code::Overloaded,
        "There is no verdict yet: too much is waiting, or a provider is slow. Please try again.",
    )
}
