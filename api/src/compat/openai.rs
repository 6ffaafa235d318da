//! OpenAI's moderation endpoint: `POST /compat/openai/v1/moderations`. Requests, answers and errors are in its format. The key is a
//! site key, in `Authorization: Bearer`.

mod answer;
mod failure;
mod request;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Instant};

use domain::key::SecretHash;
use front::BodyReader;
use poem::{Endpoint, IntoResponse as _, Request, Response, endpoint::make, http::header};

use self::{
    answer::{Moderation, Outcome},
    failure::failed,
    request::{Input, inputs},
};
use super::judged::Call;
use crate::{
    answer::Json,
    problem::{Code, Refusal},
    public::{Keep, Public},
};

/// The path. Clients are given what is before `/moderations`.
pub(crate) const PATH: &str = "/compat/openai/v1/moderations";

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
    let submissions = asked.inputs.into_iter().map(Input::into_submission);
    let call = Call {
        public,
        key,
        arrived,
        body,
    };
    let judged = call
        .judged(
            submissions
                .map(|asked| (asked, Keep::IfSiteWants))
                .collect(),
        )
        .await?;
    let outcomes = judged
        .iter()
        .zip(modalities)
        .map(|(judged, modalities)| Outcome::of(judged, modalities));
    Ok(Json(Moderation::new(asked.model, outcomes.collect())).into_response())
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
