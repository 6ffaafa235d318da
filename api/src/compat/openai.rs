//! OpenAI's moderation endpoint, `POST /compat/openai/v1/moderations`, and the list of its models. Requests, answers and errors are in
//! its format. The key is a site key, in `Authorization: Bearer`.

mod models;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Instant};

use api_common::{Code, Json, Refusal};
use domain::{key::SecretHash, media::CompatUnchecked};
use http_server::BodyReader;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    endpoint::make,
    http::{StatusCode, header},
};
use serde::Serialize;

use self::{
    request::{Input, inputs},
    response::{Moderation, Outcome, is_undecided},
};
use super::submit_and_wait::{Call, Judged};
use crate::public::{Keep, Public};

/// The path. Clients are given what is before `/moderations`.
pub(crate) const PATH: &str = "/compat/openai/v1/moderations";

/// The paths of the models, and of one of them.
pub(crate) const MODELS: &str = "/compat/openai/v1/models";
pub(crate) const MODEL: &str = "/compat/openai/v1/models/:model";

pub(crate) use models::{list as models, one as model};

/// The endpoint.
pub(crate) fn moderations(
    public: Arc<Public>,
    reader: BodyReader,
) -> impl Endpoint<Output = Response> {
    make(move |request| {
        let (public, reader) = (Arc::clone(&public), reader.clone());
        async move {
            let answer = moderate(&public, &reader, request).await;
            Ok::<_, poem::Error>(answer.unwrap_or_else(failed))
        }
    })
}

async fn moderate(
    public: &Public,
    reader: &BodyReader,
    request: Request,
) -> Result<Response, Refusal> {
    let arrived = Instant::now();
    let key = key(&request)?;
    let (request, mut body) = request.split();
    let body = body.take().map_err(|_| Refusal::internal())?;
    let body = reader.read(&request, body).await?;
    let asked = inputs(&body.bytes)?;
    let modalities: Vec<_> = asked.inputs.iter().map(Input::modalities).collect();
    let submissions = asked
        .inputs
        .into_iter()
        .filter(|input| !input.is_empty())
        .map(|input| (input.into_submission(), Keep::IfSiteWants))
        .collect();
    let call = Call {
        public,
        key,
        arrived,
        body,
    };
    let judged = call.judged(submissions).await?;
    if judged.iter().any(is_undecided) {
        let site = public.sites.find(key).await?;
        if site.is_some_and(|site| site.compat_unchecked == CompatUnchecked::Error) {
            return Err(not_checked(&judged));
        }
    }
    let mut judged = judged.iter();
    let outcomes = modalities.into_iter().map(|input| {
        if input.text || input.image {
            let judged = judged.next().ok_or_else(Refusal::internal)?;
            Ok(Outcome::of(judged, input))
        } else {
            Ok(Outcome::of_nothing())
        }
    });
    let outcomes = outcomes.collect::<Result<_, Refusal>>()?;
    Ok(Json(Moderation::new(asked.model, outcomes)).into_response())
}

/// The site wants an error for what was not checked.
fn not_checked(judged: &[Judged]) -> Refusal {
    let undecided = judged.iter().filter(|judged| is_undecided(judged)).count();
    let message = format!(
        "Something of {undecided} of {} inputs could not be checked, for instance because of its language. The site wants an error for \
         this (compat_unchecked). All inputs were judged: do not send them again, and check them in another way.",
        judged.len()
    );
    Refusal::new(Code::NotChecked, message)
}

/// The site key of the header.
fn key(request: &Request) -> Result<SecretHash, Refusal> {
    let header = request.headers().get(header::AUTHORIZATION);
    let text = header.and_then(|value| value.to_str().ok());
    let (scheme, key) = text.and_then(|text| text.split_once(' ')).ok_or_else(|| {
        Refusal::new(
            Code::InvalidApiKey,
            "You did not provide an API key: send the site key as Authorization: Bearer site_...",
        )
    })?;
    let key: Result<domain::key::SiteKey, _> = key.trim().parse();
    match key {
        Ok(key) if scheme.eq_ignore_ascii_case("bearer") => Ok(key.hash()),
        Ok(_) | Err(_) => Err(Refusal::invalid_api_key()),
    }
}

#[derive(Serialize)]
struct Body {
    error: Failure,
}

#[derive(Serialize)]
struct Failure {
    message: String,
    #[serde(rename = "type")]
    kind: &'static str,
    param: Option<String>,
    code: &'static str,
}

/// The answer to a request that is refused. Status and `Retry-After` are those of our own interface.
fn failed(refusal: Refusal) -> Response {
    let refused_with = refusal.code();
    let status = refused_with.status();
    let headers = refusal.headers();
    let (kind, code) = names(refused_with, status);
    let (detail, errors) = refusal.into_words();
    let first = errors.into_iter().next();
    let message = match &first {
        Some(first) => format!("{} {}", field(&first.field), first.message),
        None => detail,
    };
    let body = Body {
        error: Failure {
            message,
            kind,
            param: first.map(|first| field(&first.field)),
            code,
        },
    };
    let mut response = Response::builder()
        .status(status)
        .body(serde_json::to_vec(&body).expect("it has only texts"));
    *response.headers_mut() = headers;
    if refused_with == Code::NotChecked {
        // OpenAI's SDKs would repeat a request that ended with a server error, and store its items again.
        response
            .headers_mut()
            .insert("x-should-retry", header::HeaderValue::from_static("false"));
    }
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    response
}

/// `type` and `code`. Theirs where they have one, and ours otherwise.
fn names(code: Code, status: StatusCode) -> (&'static str, &'static str) {
    match code {
        Code::RateLimited => ("requests", "rate_limit_exceeded"),
        Code::QuotaExceeded | Code::NoActiveSubscription => ("insufficient_quota", code.as_str()),
        _ if status.is_server_error() => ("server_error", code.as_str()),
        _ => ("invalid_request_error", code.as_str()),
    }
}

/// The member of their request that ours was made of.
fn field(ours: &str) -> String {
    match ours {
        "body" | "content_url" | "content_base64" => "input".to_owned(),
        other => other.to_owned(),
    }
}
