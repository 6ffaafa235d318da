//! `POST /submit-media`: from a parsed body to a committed submission.

mod refusals;
mod shapes;

use std::{sync::Arc, time::Instant};

use domain::{
    id::{MediaId, TeamId},
    idempotency::{Fingerprint, IdempotencyKey},
    key::SecretHash,
    limit::RatePolicy,
    submission::Submission,
};
use store::{
    accept::{Acceptance, Idempotency, NewMedia},
    site::Site,
};
use traces::{Context, Kind, Span, Step};
use uuid::Uuid;

use super::Public;
use crate::{
    answer::Json,
    caller::{self, Bearer},
    idempotency::IdempotencyHeader,
    limited::Limited,
    problem::{Code, Refusal},
    text::Text,
};
use refusals::{refusal, turned_away};
use shapes::accepted;

pub(crate) use refusals::REFUSALS;
pub(crate) use shapes::{Accepted, SubmitRequest};

/// How often a submission is prepared again because its site has changed meanwhile.
const PREPARATIONS: usize = 5;

/// Stores the submission, or refuses it. The order of the checks is: the key, the rate, the fields,
/// and then, in the accepting statement, the subscription, a repetition, the quota.
pub(crate) async fn submit(
    public: &Public,
    bearer: Bearer,
    idempotency: &IdempotencyHeader,
    request: &SubmitRequest,
) -> Result<Limited<Json<Accepted>>, Refusal> {
    let arrived = Instant::now();
    let key = caller::key(request.api_key.as_ref(), bearer)?;
    let admission = public.rates.admit(key, RatePolicy::Submit).await;
    let rate = caller::admitted(admission.map_err(turned_away)?)?;
    match accept(public, key, idempotency, request, arrived).await {
        Ok(id) => Ok(Limited {
            rate,
            answer: Json(accepted(id)),
        }),
        Err(refusal) => Err(refusal.within(rate)),
    }
}

/// Prepares the submission with the cached site. The accepting statement refuses it if the key or
/// the site differs from the cache. A refusal because of cached data is checked again first, so
/// that a disabled key is reported before anything else.
async fn accept(
    public: &Public,
    key: SecretHash,
    idempotency: &IdempotencyHeader,
    request: &SubmitRequest,
    arrived: Instant,
) -> Result<MediaId, Refusal> {
    let mut found = public.sites.find(key).await.map_err(turned_away)?;
    let mut confirmed = false;
    for _ in 0..PREPARATIONS {
        let site = found.ok_or_else(Refusal::invalid_api_key)?;
        match prepare(public, key, site, idempotency, request, arrived).await {
            Ok(media) => {
                let (id, team) = (media.id, media.site.team);
                match public.acceptor.accept(media).await? {
                    Acceptance::Accepted => {
                        record(arrived, team, id, "accepted");
                        return Ok(id);
                    }
                    Acceptance::Repeated(first) => {
                        record(arrived, team, first, "repeated");
                        return Ok(first);
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

async fn prepare(
    public: &Public,
    key: SecretHash,
    site: Arc<Site>,
    idempotency: &IdempotencyHeader,
    request: &SubmitRequest,
    arrived: Instant,
) -> Result<NewMedia, Refusal> {
    let idempotency = idempotency.parse()?;
    let no_texts: Vec<&str> = request
        .texts()
        .iter()
        .filter(|(_, text)| *text == Some(&Text::IsNot))
        .map(|(name, _)| *name)
        .collect();
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
    let pointer = site.author_pointer.as_ref();
    let author = pointer.zip(submission.metadata.as_deref());
    let author = author.and_then(|(pointer, metadata)| pointer.author(metadata));
    let id = Uuid::now_v7();
    // An item without a caller's trace gives its id to the trace, so that nothing need be stored.
    let step = traces::adopt(|| Context::of_item(id.into_bytes()));
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
    })
}

/// Tells the collector of a submission that was accepted.
fn record(arrived: Instant, team: TeamId, media: MediaId, outcome: &'static str) {
    if let Some(step) = traces::current() {
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
