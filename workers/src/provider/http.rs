//! Any service with our own small interface: `POST {url}` with `{"text", "categories"}` or
//! `{"image", "categories"}`, answered by `{"scores"}`. `docs/providers.md` describes it.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::{Limits, Rendition};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Transport, check_categories, parsed, score, unique_keys},
};

/// Images are sent as JPEG, so that a service needs to read only one format.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg],
};

/// A service of the operator.
pub struct Http {
    transport: Transport,
}

#[derive(Deserialize)]
struct Response {
    #[serde(deserialize_with = "unique_keys")]
    scores: BTreeMap<Category, Option<f64>>,
}

impl Http {
    /// Bytes of text in one request by default: enough for every text.
    pub const PIECE_BYTES: usize = 102_400;

    /// The service at `remote`. Requests go exactly to its URL.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "http")?.with_images(LIMITS),
        })
    }
}

impl RemoteProvider for Http {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let request = request(question.content, question.categories);
        let received = self.transport.post(self.transport.at(""), &request).await?;
        received.answer(|body| read(body, question.categories))
    }
}

/// A request has the text or the image.
fn request(content: Content<'_>, categories: &[Category]) -> Value {
    match content {
        Content::Text(text) => json!({ "text": text, "categories": categories }),
        Content::Image(Rendition { format, bytes }) => json!({
            "image": { "format": format, "content_base64": STANDARD.encode(bytes) },
            "categories": categories,
        }),
    }
}

/// Reads exactly one score or `null` for each category.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let answer = parsed::<Response>(body)?.scores;
    check_categories(&answer, categories)?;
    answer
        .into_iter()
        .filter_map(|(category, number)| Some((category, number?)))
        .map(|(category, number)| Ok((category, score(number)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &[Category] = &[Category::Hate, Category::Spam];

    #[test]
    fn a_null_is_no_score_and_everything_but_the_schema_is_malformed() {
        let scores = read(br#"{"scores":{"hate":0.5,"spam":null},"model":"x"}"#, ASKED).unwrap();
        assert_eq!(scores.iter().collect::<Vec<_>>(), [(Category::Hate, 0.5)]);
        for body in [
            "",
            "{}",
            "[]",
            r#"{"scores":{}}"#,
            r#"{"scores":{"hate":0.5}}"#,
            r#"{"scores":{"hate":0.5,"spam":"no"}}"#,
            r#"{"scores":{"hate":0.5,"spam":-0.1}}"#,
            r#"{"scores":{"hate":0.5,"spam":0,"adult":0}}"#,
            r#"{"scores":{"hate":0.5,"spam":0,"gore":0}}"#,
            r#"{"scores":{"hate":0.5,"spam":0"#,
            r#"{"scores":{"hate":0.9,"spam":0,"hate":0}}"#,
        ] {
            assert!(read(body.as_bytes(), ASKED).is_err(), "{body}");
        }
    }

    #[test]
    fn a_request_has_the_text_or_the_image() {
        let text = request(Content::Text("t"), ASKED).to_string();
        assert_eq!(text, r#"{"text":"t","categories":["hate","spam"]}"#);
        let image = Rendition {
            format: ImageFormat::Jpeg,
            bytes: vec![0].into(),
        };
        assert_eq!(
            request(Content::Image(&image), ASKED).to_string(),
            r#"{"image":{"format":"jpeg","content_base64":"AA=="},"categories":["hate","spam"]}"#
        );
    }
}
