//! `POST /submit-media`: from a parsed body to a committed submission.

use std::{collections::HashMap, sync::Arc, time::Instant};

use domain::{
    id::MediaId,
    idempotency::{Fingerprint, IdempotencyKey},
    key::SecretHash,
    limit::RatePolicy,
    media::Status,
    submission::{RawSubmission, Submission},
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{
    accept::{self, Acceptance, Idempotency, NewMedia},
    site::Site,
};
use uuid::Uuid;

use super::Public;
use crate::{
    answer::Json,
    caller::{self, Bearer},
    idempotency::IdempotencyHeader,
    limited::Limited,
    problem::{Code, Refusal},
    raw::Raw,
    text::Text,
};

/// A submission: a text, an image, or both. Unknown fields are ignored. Null, an empty text, an empty URL and an
/// empty image count as not given. No value may contain the character U+0000.
#[derive(Default, Deserialize, Object)]
pub(crate) struct SubmitRequest {
    /// The site key: `site_` followed by a run of characters.
    api_key: Option<Text>,
    /// The text to moderate: at most 100 KB (102,400 bytes of UTF-8).
    #[oai(nullable, validator(max_length = 102_400))]
    body: Option<Text>,
    /// The image's http or https URL. The image must be JPEG, PNG, GIF or WebP, with at most 10 MB.
    #[oai(nullable, validator(max_length = 8_192))]
    content_url: Option<Text>,
    /// The image itself, instead of `content_url`: base64, plain or as a `data:image/...;base64,` URI, with at most
    /// 10 MB when decoded.
    #[oai(nullable)]
    content_base64: Option<Text>,
    /// Your identifier of the item. Events and the status contain it.
    #[oai(nullable, validator(max_length = 1_024))]
    app_media_id: Option<Text>,
    /// The rule group to use instead of the site's.
    #[oai(nullable)]
    rule_group_id: Option<Text>,
    /// A JSON object that events and the status contain unchanged: at most 16 KiB, with objects and arrays nested
    /// at most 32 deep. The object itself counts as 1.
    #[oai(nullable)]
    metadata: Option<Raw<HashMap<String, Value>>>,
}

impl SubmitRequest {
    /// The members that should be texts, but for the key.
    fn texts(&self) -> [(&'static str, Option<&Text>); 5] {
        [
            ("body", self.body.as_ref()),
            ("content_url", self.content_url.as_ref()),
            ("content_base64", self.content_base64.as_ref()),
            ("app_media_id", self.app_media_id.as_ref()),
            ("rule_group_id", self.rule_group_id.as_ref()),
        ]
    }

    /// `no_texts` names the members that should be texts and are none.
    fn raw<'a>(&'a self, no_texts: &'a [&'static str]) -> RawSubmission<'a> {
        let [
            body,
            content_url,
            content_base64,
            app_media_id,
            rule_group_id,
        ] = self.texts().map(|(_, text)| text.and_then(Text::as_str));
        RawSubmission {
            body,
            content_url,
            content_base64,
            app_media_id,
            rule_group_id,
            metadata: self.metadata.as_ref().map(|metadata| &*metadata.json),
            no_texts,
        }
    }
}

/// The submission is stored and will be moderated.
#[derive(Serialize, Object)]
pub(crate) struct Accepted {
    /// The media item's id.
    id: Uuid,
    /// Always `pending`.
    status: String,
    /// A message for people.
    message: String,
}

/// The problems that this operation can answer with.
pub(crate) const REFUSALS: &[Code] = &[
    Code::InvalidRequest,
    Code::EmptySubmission,
    Code::ConflictingContent,
    Code::TextTooLarge,
    Code::ImageTooLarge,
    Code::InvalidImage,
    Code::UnsupportedImage,
    Code::UnknownRuleGroup,
    Code::InvalidApiKey,
    Code::NoActiveSubscription,
    Code::QuotaExceeded,
    Code::RequestTimeout,
    Code::IdempotencyConflict,
    Code::PayloadTooLarge,
    Code::UnsupportedMediaType,
    Code::RateLimited,
    Code::InternalError,
    Code::Overloaded,
];

/// How often a submission is prepared anew because its site changes under it.
const PREPARATIONS: usize = 5;

/// Stores the submission, or says why not; in this order: the key, the rate, the fields, and in the accepting statement
/// the subscription, a repetition, the quota.
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

/// Prepares the submission from the cached site; the accepting statement refuses it if the key or the site is no longer
/// what the cache says. A refusal that rests on the cache is confirmed first, so that a disabled key is told before
/// anything else.
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
                let id = media.id;
                match public.acceptor.accept(media).await? {
                    Acceptance::Accepted => return Ok(id),
                    Acceptance::Repeated(first) => return Ok(first),
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

/// Counts a submission that could not even be prepared. [`Acceptor::accept`](store::accept::Acceptor::accept) counts the others.
fn turned_away(error: store::Error) -> Refusal {
    accept::turned_away(&error);
    error.into()
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
    Ok(NewMedia {
        id: MediaId::from(Uuid::now_v7()),
        key,
        site,
        judges,
        idempotency: idempotency.map(|key| identify(key, &submission)),
        submission,
        arrived,
    })
}

fn identify(key: IdempotencyKey, submission: &Submission) -> Idempotency {
    Idempotency {
        key,
        fingerprint: Fingerprint::of(submission),
    }
}

fn refusal(acceptance: Acceptance) -> Refusal {
    let (code, detail) = match acceptance {
        Acceptance::NoSubscription => (
            Code::NoActiveSubscription,
            "The team has no active subscription.",
        ),
        Acceptance::QuotaExceeded => (
            Code::QuotaExceeded,
            "The team has used up the submissions of its plan for this billing period.",
        ),
        Acceptance::DeliveriesExceeded => (
            Code::QuotaExceeded,
            "The webhooks that the submission causes are more than the team's plan has left of its deliveries for this billing \
             period.",
        ),
        Acceptance::IdempotencyConflict => (
            Code::IdempotencyConflict,
            "Another request was accepted under this Idempotency-Key: repeat that one unchanged, or use a new key.",
        ),
        Acceptance::Refused => (
            Code::InvalidRequest,
            "The submission cannot be stored as it is: one of its values is more than the database takes.",
        ),
        Acceptance::Failed => (
            Code::InternalError,
            "The submission could not be stored. Trying again will not help: report the request_id to the operator.",
        ),
        Acceptance::Untried => (
            Code::Overloaded,
            "Several submissions of your team could not be stored, and this one arrived together with them. Send it again.",
        ),
        Acceptance::Accepted | Acceptance::Repeated(_) | Acceptance::Stale => {
            return Refusal::overloaded();
        }
    };
    Refusal::new(code, detail)
}

fn accepted(id: MediaId) -> Accepted {
    Accepted {
        id: id.as_uuid(),
        status: Status::Pending.as_str().to_owned(),
        message: "Accepted for moderation.".to_owned(),
    }
}
