//! Perspective's method `comments:analyze`, and the description that Google's client libraries read first. Requests, answers and
//! errors are in its format. The key is a site key, in `?key=` or in the header `X-Goog-Api-Key`.

mod attribute;
mod discovery;
mod error;
mod request;
mod response;
mod sentences;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Instant};

use api_common::{
    problem::{Code, Refusal},
    response::Json,
};
use domain::key::{SecretHash, SiteKey};
use http_server::BodyReader;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    endpoint::{make, make_sync},
    error::NotFoundError,
};
use url::form_urlencoded;

use self::{error::Failed, request::Asked, response::Analysis};
use super::submit_and_wait::Call;
use crate::public::{Keep, Public};

/// The path of the method.
pub(crate) const ANALYZE: &str = "/compat/perspective/v1alpha1/comments:analyze";

/// The router's path of all methods: in its paths, a colon begins a parameter.
pub(crate) const METHODS: &str = "/compat/perspective/v1alpha1/:method";

/// The path of the description.
pub(crate) const DISCOVERY: &str = "/compat/perspective/$discovery/rest";

/// All methods: one, and errors for the others.
pub(crate) fn methods(public: Arc<Public>, reader: BodyReader) -> impl Endpoint<Output = Response> {
    make(move |request: Request| {
        let (public, reader) = (Arc::clone(&public), reader.clone());
        async move {
            if request.uri().path() != ANALYZE {
                return Err(NotFoundError.into());
            }
            let answer = analyzed(&public, &reader, request).await;
            Ok::<_, poem::Error>(answer.unwrap_or_else(Failed::into_response))
        }
    })
}

/// The description.
pub(crate) fn discovery() -> impl Endpoint<Output = Response> {
    make_sync(|request: Request| discovery::document(request.headers()))
}

async fn analyzed(
    public: &Public,
    reader: &BodyReader,
    request: Request,
) -> Result<Response, Failed> {
    let arrived = Instant::now();
    let key = key(&request)?;
    let (request, mut body) = request.split();
    let body = body.take().map_err(|_| Refusal::internal())?;
    let body = reader.read(&request, body).await.map_err(Refusal::from)?;
    let asked = Asked::parse(&body.bytes, &public.limits)?;
    let keep = if asked.do_not_store {
        Keep::Never
    } else {
        Keep::IfSiteWants
    };
    let (whole, sentences, asked) = asked.into_parts();
    let mut wanted = vec![(whole, keep)];
    // They are parts of what is kept.
    let sentences = sentences.into_iter();
    wanted.extend(sentences.map(|sentence| (sentence, Keep::Never)));
    let call = Call {
        public,
        key,
        arrived,
        body,
    };
    let judged = call.judged(wanted).await?;
    Ok(Json(Analysis::of(asked, &judged)?).into_response())
}

/// The site key of the request.
fn key(request: &Request) -> Result<SecretHash, Refusal> {
    let header = request.headers().get("x-goog-api-key");
    let header = header.and_then(|value| value.to_str().ok());
    let query = request.uri().query().unwrap_or_default();
    let query = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "key");
    let key = match (header, &query) {
        (Some(key), _) => key,
        (None, Some((_, key))) => key,
        (None, None) => {
            return Err(Refusal::new(
                Code::InvalidApiKey,
                "The request has no API key: send the site key as the parameter key, or in the header X-Goog-Api-Key.",
            ));
        }
    };
    let key: SiteKey = key.trim().parse().map_err(|_| Refusal::invalid_api_key())?;
    Ok(key.hash())
}
