//! Perspective's method `comments:analyze`, and the description that Google's client libraries read first. Requests, answers and
//! errors are in its format. The key is a site key, in `?key=` or in the header `X-Goog-Api-Key`.

mod discovery;
mod error;
mod request;
mod response;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Instant};

use api_common::{Code, Json, Refusal};
use domain::{
    key::{SecretHash, SiteKey},
    score::Category,
};
use http_server::BodyReader;
use poem::{
    Endpoint, IntoResponse as _, Request, Response,
    endpoint::{make, make_sync},
    error::NotFoundError,
};
use unicode_segmentation::UnicodeSegmentation as _;
use url::form_urlencoded;

use self::{error::Failed, request::Asked, response::Analysis};
use super::submit_and_wait::{Call, Judged};
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

/// What an attribute is made of: the highest score of these categories. Without any, we have nothing that means the same.
const ATTRIBUTES: [(&str, &[Category]); 17] = [
    ("TOXICITY", &[Category::Harassment, Category::Hate]),
    ("IDENTITY_ATTACK", &[Category::Hate]),
    ("INSULT", &[Category::Harassment]),
    ("THREAT", &[Category::Violence]),
    ("SEXUALLY_EXPLICIT", &[Category::Adult]),
    ("SPAM", &[Category::Spam]),
    ("SEVERE_TOXICITY", &[]),
    ("PROFANITY", &[]),
    ("TOXICITY_FAST", &[]),
    ("FLIRTATION", &[]),
    ("ATTACK_ON_AUTHOR", &[]),
    ("ATTACK_ON_COMMENTER", &[]),
    ("INCOHERENT", &[]),
    ("INFLAMMATORY", &[]),
    ("LIKELY_TO_REJECT", &[]),
    ("OBSCENE", &[]),
    ("UNSUBSTANTIAL", &[]),
];

/// An attribute that a client can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Attribute(&'static [Category]);

impl Attribute {
    /// By its name, which may end with a version (`TOXICITY@6`) or say that it is an experiment.
    fn named(name: &str) -> Option<Self> {
        let name = name.split('@').next().unwrap_or_default();
        let name = name.strip_suffix("_EXPERIMENTAL").unwrap_or(name);
        let (_, of) = ATTRIBUTES.iter().find(|(known, _)| *known == name)?;
        Some(Self(of))
    }

    /// Whether we have something that means the same.
    fn has_categories(self) -> bool {
        !self.0.is_empty()
    }

    /// The names of those that can be scored.
    fn scored() -> Vec<&'static str> {
        let scored = ATTRIBUTES.iter().filter(|(_, of)| !of.is_empty());
        scored.map(|(name, _)| *name).collect()
    }

    /// Its score. None: we have nothing that means the same, or one of its categories was not checked.
    fn score(self, judged: &Judged) -> Option<f64> {
        let scores: Option<Vec<f64>> = self.0.iter().map(|of| judged.score(*of)).collect();
        scores?.into_iter().reduce(f64::max)
    }
}

/// The most spans of a text. Each is an item of its own, so a longer text has several sentences in a span.
const MOST: usize = 50;

/// A part of a text, in UTF-16 code units, as Perspective counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    begin: usize,
    /// The first one that no longer belongs to it.
    end: usize,
}

impl Span {
    fn of_whole(text: &str) -> Self {
        Self {
            begin: 0,
            end: units(text),
        }
    }
}

/// The sentences with their places, without the space between them. Empty if there are not two.
fn sentences(text: &str) -> Vec<(Span, &str)> {
    let mut bounds = Vec::new();
    for (start, sentence) in text.split_sentence_bound_indices() {
        let trimmed = sentence.trim_start();
        let start = start + sentence.len() - trimmed.len();
        let trimmed = trimmed.trim_end();
        if !trimmed.is_empty() {
            bounds.push((start, start + trimmed.len()));
        }
    }
    if bounds.len() < 2 {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    // Counted on from the last span, so that the text is read once.
    let (mut read, mut place) = (0, 0);
    for together in bounds.chunks(bounds.len().div_ceil(MOST)) {
        let [(start, _), ..] = *together else {
            continue;
        };
        let [.., (_, end)] = *together else { continue };
        let begin = place + units(&text[read..start]);
        let sentence = &text[start..end];
        place = begin + units(sentence);
        read = end;
        sentences.push((Span { begin, end: place }, sentence));
    }
    sentences
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}
