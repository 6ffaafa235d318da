//! `POST /submit-media`: from a parsed body to a committed submission.

mod refusal_messages;
mod schemas;
mod wait_for_verdict;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use api_common::{Code, IdempotencyHeader, Json, JsonBody, RateLimited, Refusal};
use domain::{
    id::{MediaId, TeamId},
    idempotency::{Fingerprint, IdempotencyKey},
    key::SecretHash,
    media::{Status, StatusVocabulary},
    rate_limit::RatePolicy,
    submission::Submission,
};
use serde_json::value::RawValue;
use store::{
    accept::{Acceptance, Idempotency, NewMedia},
    item_status::MediaStatus,
    jobs::Marks,
    site::Site,
    verdict_waiters,
};
use telemetry::trace::{Context, Kind, Span, Step};
use tracing::debug;
use uuid::Uuid;

use self::{
    refusal_messages::{refusal, turned_away},
    wait_for_verdict::{Waiting, expect},
};
use super::Public;
use crate::{
    caller::{self, Bearer},
    prefer_header::{Prefer, Preferred},
};

pub(crate) use self::{
    refusal_messages::REFUSALS,
    schemas::{Accepted, SubmitRequest},
};

/// How often a submission is prepared again because its site has changed meanwhile.
const PREPARATIONS: usize = 5;

/// Stores the submission, or refuses it. The order of the checks is: the key, the rate, the fields,
/// and then, in the accepting statement, the subscription, a repetition, the quota.
pub(crate) async fn submit(
    public: &Public,
    bearer: Bearer,
    idempotency: &IdempotencyHeader,
    prefer: Prefer,
    request: JsonBody<SubmitRequest>,
) -> Result<RateLimited<Preferred<Json<Accepted>>>, Refusal> {
    let arrived = Instant::now();
    let key = caller::key(request.value.api_key.as_ref(), bearer)?;
    let admission = public.rates.admit(key, RatePolicy::Submit).await;
    let rate = caller::admitted(admission.map_err(turned_away)?)?;
    let asked = Asked {
        key,
        idempotency,
        request: &request.value,
        arrived,
        wait: prefer.wait,
        all_scores: false,
        keep: Keep::Always,
    };
    let stored = accept(public, asked).await;
    // Its memory is not needed while the request waits.
    drop(request);
    let stored = stored.map_err(|refusal| refusal.within(rate))?;
    let (media, applied, began) = (stored.media, stored.wait(), Instant::now());
    let answer = match stored.verdict(public, key).await {
        Some(verdict) => Accepted::decided(verdict),
        None => Accepted::pending(media),
    };
    Ok(RateLimited {
        rate,
        answer: Preferred {
            applied,
            waited: began.elapsed(),
            answer: Json(answer),
        },
    })
}

/// A request whose key may submit.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) key: SecretHash,
    pub(crate) idempotency: &'a IdempotencyHeader,
    pub(crate) request: &'a SubmitRequest,
    pub(crate) arrived: Instant,
    /// How long the client waits for the verdict; none: not at all.
    pub(crate) wait: Option<Duration>,
    /// Whether a text gets scores in all categories, also in those that no rule wants.
    pub(crate) all_scores: bool,
    pub(crate) keep: Keep,
}

/// Whether an item is kept after its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Always,
    /// If the site keeps items of clients of other services.
    IfSiteWants,
    Never,
}

/// A stored item.
pub(crate) struct Stored {
    pub(crate) media: MediaId,
    /// Whether an earlier request had stored it.
    is_known: bool,
    /// The place in which the request waits for the verdict.
    waiting: Option<Waiting>,
}

impl Stored {
    /// How long the request will wait; none: not at all, because it does not want to, or no place is free.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.waiting.as_ref().map(|waiting| waiting.wait)
    }

    /// Waits for the verdict. None: there is none in time.
    pub(crate) async fn verdict(self, public: &Public, key: SecretHash) -> Option<Verdict> {
        let waiting = self.waiting?;
        waiting
            .verdict(public, key, self.media, self.is_known)
            .await
    }
}

/// Prepares the submission with the cached site. The accepting statement refuses it if the key or
/// the site differs from the cache. A refusal because of cached data is checked again first, so
/// that a disabled key is reported before anything else.
pub(crate) async fn accept(public: &Public, asked: Asked<'_>) -> Result<Stored, Refusal> {
    let Asked { key, arrived, .. } = asked;
    let mut found = public.sites.find(key).await.map_err(turned_away)?;
    let mut confirmed = false;
    for _ in 0..PREPARATIONS {
        let site = found.ok_or_else(Refusal::invalid_api_key)?;
        match prepare(public, asked, site).await {
            Ok(mut media) => {
                let (id, team) = (media.id, media.site.team);
                let vocabulary = media.site.vocabulary;
                let wait = asked.wait.map(|wait| (wait, vocabulary));
                let waiting = expect(public, team, id, wait);
                media.marks.awaited = waiting.is_some();
                match public.acceptor.accept(media).await? {
                    Acceptance::Accepted => {
                        record(arrived, team, id, "accepted");
                        debug!(media.id = %id, team.id = %team, "accepted an item");
                        return Ok(Stored {
                            media: id,
                            is_known: false,
                            waiting,
                        });
                    }
                    Acceptance::Repeated(first) => {
                        record(arrived, team, first, "repeated");
                        debug!(media.id = %first, team.id = %team, "a submission repeats an item");
                        drop(waiting);
                        return Ok(Stored {
                            media: first,
                            is_known: true,
                            waiting: expect(public, team, first, wait),
                        });
                    }
                    Acceptance::Stale => {}
                    refused => return Err(refusal(refused)),
                }
            }
            Err(refusal) if confirmed => return Err(refusal),
            Err(_) => {}
        }
        found = public.sites.reload(key).await.map_err(turned_away)?;
        confirmed = true;
    }
    Err(turned_away(store::Error::Overloaded))
}

async fn prepare(public: &Public, asked: Asked<'_>, site: Arc<Site>) -> Result<NewMedia, Refusal> {
    let Asked {
        key,
        idempotency,
        request,
        arrived,
        all_scores,
        keep,
        wait: _,
    } = asked;
    if site.is_closed {
        return Err(Refusal::new(
            Code::SiteClosed,
            "The site is closed, or being closed: it accepts no submissions.",
        ));
    }
    let idempotency = idempotency.parse()?;
    let no_texts = request.no_texts();
    let submission = Submission::parse(request.raw(&no_texts), &public.limits)?;
    let judges = match submission.rule_group {
        None => site.judges.clone(),
        Some(group) => {
            let judges = public.sites.judges_of(&site, group).await;
            judges.map_err(turned_away)?.ok_or_else(|| {
                Refusal::field(
                    Code::UnknownRuleGroup,
                    "rule_group_id",
                    "is no rule group of the site's team",
                )
            })?
        }
    };
    let is_kept = match keep {
        Keep::Always => true,
        Keep::IfSiteWants => site.compat_store,
        Keep::Never => false,
    };
    let pointer = site.author_pointer.as_ref();
    let author = pointer.zip(submission.metadata.as_deref());
    let author = author.and_then(|(pointer, metadata)| pointer.author(metadata));
    let id = Uuid::now_v7();
    // An item without a caller's trace gives its id to the trace, so that nothing need be stored.
    let step = telemetry::trace::adopt(|| Context::of_item(id.into_bytes()));
    Ok(NewMedia {
        id: MediaId::from(id),
        trace: step.context,
        key,
        site,
        judges,
        idempotency: idempotency.map(|key| identify(key, &submission)),
        submission,
        author,
        arrived,
        marks: Marks {
            awaited: false,
            all_scores,
        },
        is_transient: !is_kept,
    })
}

/// Tells the collector of a submission that was accepted.
fn record(arrived: Instant, team: TeamId, media: MediaId, outcome: &'static str) {
    if let Some(step) = telemetry::trace::current() {
        let team = team.as_uuid().into_bytes();
        let mut span = Span::since(arrived, Step { team, ..step }, "submit", Kind::Server);
        span.set_with("media.id", || media.to_string());
        span.set("outcome", outcome);
    }
}

fn identify(key: IdempotencyKey, submission: &Submission) -> Idempotency {
    Idempotency {
        key,
        fingerprint: Fingerprint::of(submission),
    }
}

/// A verdict.
pub(crate) struct Verdict {
    pub(crate) media: MediaId,
    /// Never `pending`.
    pub(crate) status: Status,
    /// How the site wants the status spelled.
    pub(crate) vocabulary: StatusVocabulary,
    /// `moderation_details`.
    pub(crate) details: Option<Box<RawValue>>,
}

impl Verdict {
    /// As the worker has given it, whose process is this one. None: its details are no JSON.
    fn given(
        media: MediaId,
        vocabulary: StatusVocabulary,
        verdict: verdict_waiters::Verdict,
    ) -> Option<Self> {
        let verdict_waiters::Verdict { status, details } = verdict;
        Some(Self {
            media,
            status,
            vocabulary,
            details: Some(RawValue::from_string(details.as_ref().to_owned()).ok()?),
        })
    }
}

impl From<&MediaStatus> for Verdict {
    /// As Postgres has it.
    fn from(status: &MediaStatus) -> Self {
        Self {
            media: status.media,
            status: status.status,
            vocabulary: status.vocabulary,
            details: status.details.clone(),
        }
    }
}
