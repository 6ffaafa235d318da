//! The request: a comment, and the attributes to score.

use std::collections::BTreeMap;

use api_common::{
    Refusal,
    body::parse,
    text_decoding::{self, Text},
};
use domain::submission::SubmissionLimits;
use serde::Deserialize;

use super::{super::can_be_repeated, Attribute, Span, sentences};
use crate::public::SubmitRequest;

/// The most attributes in a request.
const MOST: usize = 50;

/// The most languages in a request.
const LANGUAGES: usize = 50;

/// What is asked.
pub(super) struct Asked {
    text: String,
    /// Parts of the text to score besides. Empty: the whole is the only part.
    sentences: Vec<String>,
    pub(super) do_not_store: bool,
    rest: Rest,
}

/// What is asked, without the texts.
pub(super) struct Rest {
    /// By the names that the client uses.
    pub(super) attributes: BTreeMap<String, Wish>,
    pub(super) whole: Span,
    /// Those of the sentences, in their order.
    pub(super) spans: Vec<Span>,
    pub(super) languages: Vec<String>,
    pub(super) client_token: Option<String>,
}

/// An attribute, and the score below which the client does not want to know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wish {
    pub(super) attribute: Attribute,
    pub(super) threshold: f64,
}

/// Members that are null count as missing, and names can have underscores: Google's JSON allows both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    comment: Comment,
    #[serde(alias = "requested_attributes")]
    requested_attributes: BTreeMap<String, Option<Given>>,
    #[serde(alias = "span_annotations")]
    span_annotations: Option<bool>,
    languages: Option<Vec<String>>,
    #[serde(alias = "do_not_store")]
    do_not_store: Option<bool>,
    #[serde(alias = "client_token")]
    client_token: Option<String>,
}

#[derive(Deserialize)]
struct Comment {
    #[serde(deserialize_with = "text_decoding::judged")]
    text: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Given {
    #[serde(alias = "score_type")]
    score_type: Option<String>,
    #[serde(alias = "score_threshold")]
    score_threshold: Option<f64>,
}

impl Asked {
    /// # Errors
    /// It is not valid; the member says what is wrong.
    pub(super) fn parse(bytes: &[u8], limits: &SubmissionLimits) -> Result<Self, Refusal> {
        let body: Body = parse(bytes)?;
        let Comment { text, kind } = body.comment;
        let plain = ["PLAIN_TEXT", "TEXT_TYPE_UNSPECIFIED"];
        if kind.is_some_and(|kind| !plain.contains(&kind.as_str())) {
            return Err(Refusal::invalid_field("comment.type", "must be PLAIN_TEXT"));
        }
        if text.trim().is_empty() {
            return Err(Refusal::invalid_field("comment.text", "is empty"));
        }
        let languages = body.languages.unwrap_or_default();
        if languages.len() > LANGUAGES {
            let message = format!("must have at most {LANGUAGES} languages");
            return Err(Refusal::invalid_field("languages", message));
        }
        for language in &languages {
            can_be_repeated("languages", language)?;
        }
        let token = body.client_token.as_deref();
        can_be_repeated("clientToken", token.unwrap_or_default())?;
        let asked = body.requested_attributes;
        if asked.is_empty() || asked.len() > MOST {
            let message = format!("must have 1 to {MOST} attributes");
            return Err(Refusal::invalid_field("requestedAttributes", message));
        }
        let attributes: Result<_, Refusal> = asked
            .into_iter()
            .map(|(name, given)| {
                let wish = wish(&name, &given.unwrap_or_default())?;
                Ok((name, wish))
            })
            .collect();
        // A text that is too long is refused later.
        let spans = if body.span_annotations == Some(true) && text.len() <= limits.text {
            sentences(&text)
        } else {
            Vec::new()
        };
        Ok(Self {
            do_not_store: body.do_not_store == Some(true),
            rest: Rest {
                attributes: attributes?,
                whole: Span::of_whole(&text),
                spans: spans.iter().map(|(span, _)| *span).collect(),
                languages,
                client_token: body.client_token,
            },
            sentences: spans.iter().map(|(_, text)| (*text).to_owned()).collect(),
            text,
        })
    }

    /// Its texts as our own interface takes them, the whole one first, and the rest.
    pub(super) fn into_parts(self) -> (SubmitRequest, Vec<SubmitRequest>, Rest) {
        let sentences = self.sentences.into_iter().map(submission);
        (submission(self.text), sentences.collect(), self.rest)
    }
}

fn submission(text: String) -> SubmitRequest {
    SubmitRequest {
        body: Some(Text::from(text)),
        ..SubmitRequest::default()
    }
}

fn wish(name: &str, given: &Given) -> Result<Wish, Refusal> {
    can_be_repeated("requestedAttributes", name)?;
    let Some(attribute) = Attribute::named(name) else {
        let message = format!(
            "has an attribute that is not known; those that can be scored are {}",
            Attribute::scored().join(", ")
        );
        return Err(Refusal::invalid_field("requestedAttributes", message));
    };
    let kinds = ["PROBABILITY", "SCORE_TYPE_UNSPECIFIED"];
    let kind = given.score_type.as_deref();
    if kind.is_some_and(|kind| !kinds.contains(&kind)) {
        let message = "has a scoreType other than PROBABILITY";
        return Err(Refusal::invalid_field("requestedAttributes", message));
    }
    Ok(Wish {
        attribute,
        threshold: given.score_threshold.unwrap_or(0.0),
    })
}
