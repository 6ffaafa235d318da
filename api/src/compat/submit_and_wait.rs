//! What the clients of all other services need: items are submitted, and their verdicts are waited for.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use api_common::{Code, IdempotencyHeader, Refusal};
use domain::{key::SecretHash, media::Action, rate_limit::RatePolicy, score::Category};
use futures::future::{join_all, try_join_all};
use http_server::Held;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use store::site::Site;
use uuid::Uuid;

use crate::{
    caller,
    public::{Asked, Keep, Public, SubmitRequest, Verdict, accept},
};

/// How long an answer waits for its verdicts.
const PATIENCE: Duration = Duration::from_secs(10);

/// The word in `moderation_details.unchecked` for a provider that failed for good.
const PROVIDER_FAILED: &str = "provider_failed";

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
        if wanted.is_empty() {
            authenticate(public, key, RatePolicy::Submit).await?;
        }
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
                all_scores: true,
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

/// Counts a request that stores nothing, and checks its key.
///
/// # Errors
/// The key is not valid, or its requests of this minute are used up.
pub(super) async fn authenticate(
    public: &Public,
    key: SecretHash,
    policy: RatePolicy,
) -> Result<Arc<Site>, Refusal> {
    caller::admitted(public.rates.admit(key, policy).await?)?;
    let site = public.sites.reload(key).await?;
    site.ok_or_else(Refusal::invalid_api_key)
}

/// An item that has a verdict.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    details: Details,
}

/// What is read of `moderation_details`.
#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    rule_violations: Vec<IgnoredAny>,
    #[serde(default)]
    ai_analysis: BTreeMap<String, f64>,
    reason: Option<String>,
    #[serde(default)]
    unchecked: Vec<String>,
}

impl Judged {
    fn of(verdict: Verdict) -> Result<Self, Refusal> {
        let details = verdict.details.as_ref();
        let details: Option<Details> = details
            .map(|details| serde_json::from_str(details.get()))
            .transpose()
            .map_err(|_| Refusal::internal())?;
        Ok(Self {
            verdict,
            details: details.unwrap_or_default(),
        })
    }

    #[cfg(test)]
    pub(super) fn with(verdict: Verdict, scores: &[(Category, f64)]) -> Self {
        let scores = scores
            .iter()
            .map(|(category, score)| (category.as_str().to_owned(), *score));
        Self {
            verdict,
            details: Details {
                ai_analysis: scores.collect(),
                ..Details::default()
            },
        }
    }

    /// The score of a category, from 0 to 1. None: it was not checked.
    pub(super) fn score(&self, category: Category) -> Option<f64> {
        self.details.ai_analysis.get(category.as_str()).copied()
    }

    /// Whether it violates a rule.
    pub(super) fn violates(&self) -> bool {
        !self.details.rule_violations.is_empty()
    }

    /// Whether something of it was not checked that should have been.
    pub(super) fn is_unchecked(&self) -> bool {
        !self.details.unchecked.is_empty()
    }

    /// Whether a provider that could have scored it failed.
    pub(super) fn has_failed_provider(&self) -> bool {
        let mut unchecked = self.details.unchecked.iter();
        unchecked.any(|what| what == PROVIDER_FAILED)
    }
}

/// The item behind an answer, in a member that only we send.
#[derive(Debug, Serialize)]
pub(super) struct Item {
    /// None: nothing was stored, because there was nothing to check.
    pub(super) media_id: Option<Uuid>,
    pub(super) status: Option<&'static str>,
    pub(super) action: Option<&'static str>,
    /// Why a person must look, or what was not checked.
    pub(super) reason: Option<String>,
}

impl From<&Judged> for Item {
    fn from(judged: &Judged) -> Self {
        let Verdict { media, status, .. } = &judged.verdict;
        Self {
            media_id: Some(media.as_uuid()),
            status: Some(status.as_str()),
            action: status.action().map(Action::as_str),
            reason: judged.details.reason.clone(),
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
