//! The request: a text, several texts, or the parts of one input.

use std::fmt;

use api_common::{Refusal, body::parse, text_decoding::Text};
use domain::submission::is_data_uri;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::super::can_be_repeated;
use crate::public::SubmitRequest;

/// The most texts in a request. Each is an item, and counts as a submission.
const MOST: usize = 100;

const FORMS: &str =
    "must be a string, an array of strings, or an array of parts with the type text or image_url";

/// What is asked.
pub(super) struct Asked {
    /// The model that the client names. It is repeated in the answer, and means nothing here.
    pub(super) model: Option<String>,
    pub(super) inputs: Vec<Input>,
}

/// What one result is about.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    text: Option<String>,
    /// Its URL, or a data URI.
    image: Option<Text>,
}

/// What an input consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modalities {
    pub(super) text: bool,
    pub(super) image: bool,
}

#[derive(Deserialize)]
struct Body {
    model: Option<String>,
    input: Given,
}

enum Given {
    Text(String),
    Texts(Vec<String>),
    Parts(Vec<Part>),
    Other,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Kind,
    text: Option<Text>,
    image_url: Option<ImageUrl>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Text,
    ImageUrl,
}

#[derive(Deserialize)]
struct ImageUrl {
    url: Text,
}

/// Read from the JSON itself: serde's untagged enums accept no text that was cut.
impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?;
        if let Some(text) = Text::read(json).into_string() {
            return Ok(Self::Text(text));
        }
        Ok(match serde_json::from_str(json.get()) {
            Ok(Texts(texts)) => Self::Texts(texts),
            Err(_) => serde_json::from_str(json.get()).map_or(Self::Other, Self::Parts),
        })
    }
}

/// An array of texts. One more than permitted is read, and no others.
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Texts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of strings")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Texts, A::Error> {
        let mut texts = Vec::new();
        while texts.len() <= MOST {
            let Some(text) = elements.next_element::<Text>()? else {
                return Ok(Texts(texts));
            };
            texts.push(text.into_string().ok_or_else(|| A::Error::custom(FORMS))?);
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Texts(texts))
    }
}

fn not_a_form() -> Refusal {
    Refusal::invalid_field("input", FORMS)
}

/// Reads a request.
pub(super) fn inputs(bytes: &[u8]) -> Result<Asked, Refusal> {
    let Body { model, input } = parse(bytes)?;
    can_be_repeated("model", model.as_deref().unwrap_or_default())?;
    let inputs = match input {
        Given::Text(text) => vec![Input::of_text(text)],
        Given::Texts(texts) => texts.into_iter().map(Input::of_text).collect(),
        Given::Parts(parts) => vec![Input::of_parts(parts)?],
        Given::Other => return Err(not_a_form()),
    };
    if inputs.is_empty() || inputs.len() > MOST {
        let message = format!("must have 1 to {MOST} texts");
        return Err(Refusal::invalid_field("input", message));
    }
    Ok(Asked { model, inputs })
}

impl Input {
    fn of_text(text: String) -> Self {
        Self {
            text: Some(text),
            image: None,
        }
    }

    /// All parts together are one input.
    fn of_parts(parts: Vec<Part>) -> Result<Self, Refusal> {
        let mut input = Self::default();
        for part in parts {
            match part {
                Part {
                    kind: Kind::Text,
                    text: Some(text),
                    ..
                } => {
                    let text = text.into_string().ok_or_else(not_a_form)?;
                    let joined = input.text.get_or_insert_default();
                    if !joined.is_empty() {
                        joined.push('\n');
                    }
                    joined.push_str(&text);
                }
                Part {
                    kind: Kind::ImageUrl,
                    image_url: Some(image_url),
                    ..
                } => {
                    if input.image.replace(image_url.url).is_some() {
                        let message = "has several images: a request can have one";
                        return Err(Refusal::invalid_field("input", message));
                    }
                }
                Part { .. } => return Err(not_a_form()),
            }
        }
        Ok(input)
    }

    /// Whether there is nothing to check.
    pub(super) fn is_empty(&self) -> bool {
        let Modalities { text, image } = self.modalities();
        !text && !image
    }

    pub(super) fn modalities(&self) -> Modalities {
        Modalities {
            text: self.text.as_deref().is_some_and(|text| !text.is_empty()),
            image: self
                .image
                .as_ref()
                .is_some_and(|url| url.as_str() != Some("")),
        }
    }

    /// As our own interface takes it.
    pub(super) fn into_submission(self) -> SubmitRequest {
        let is_inline = self
            .image
            .as_ref()
            .and_then(Text::as_str)
            .is_some_and(is_data_uri);
        let image = self.image;
        let (content_url, content_base64) = if is_inline {
            (None, image)
        } else {
            (image, None)
        };
        SubmitRequest {
            body: self.text.map(Text::from),
            content_url,
            content_base64,
            ..SubmitRequest::default()
        }
    }
}
