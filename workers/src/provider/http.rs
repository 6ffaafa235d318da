//! Any service with our own small interface: `POST {url}` with `{"text", "categories"}` or
//! `{"image", "categories"}`, answered by `{"scores"}`. `docs/providers.md` describes it.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    remote::Remote,
    transport::{Received, Transport, parsed, score, unique_keys},
};
use crate::picture::{Limits, Rendition};

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

#[derive(Serialize)]
struct Request<'a> {
    #[serde(flatten)]
    content: Shown<'a>,
    categories: &'a [Category],
}

/// The member with the content.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Shown<'a> {
    Text(&'a str),
    Image {
        format: ImageFormat,
        content_base64: String,
    },
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

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let categories = question.categories;
        match question.content {
            Content::Text(text) => {
                let received = self.post(Shown::Text(text), categories).await?;
                let scores = read(&received.body, categories)?;
                Ok(received.answer(scores))
            }
            Content::Image(Rendition { format, bytes }) => {
                let image = Shown::Image {
                    format: *format,
                    content_base64: STANDARD.encode(bytes),
                };
                let received = self.post(image, categories).await?;
                let scores = read(&received.body, categories)?;
                Ok(received.answer(scores))
            }
        }
    }

    async fn post(
        &self,
        content: Shown<'_>,
        categories: &[Category],
    ) -> Result<Received, ProviderError> {
        let request = Request {
            content,
            categories,
        };
        self.transport.post(self.transport.at(""), &request).await
    }
}

/// Reads exactly one score or `null` for each category.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let answer = parsed::<Response>(body)?.scores;
    let asked = categories
        .iter()
        .all(|category| answer.contains_key(category));
    if !asked || answer.len() != categories.len() {
        return Err(ProviderError::Malformed(
            "not the categories that were asked for",
        ));
    }
    answer
        .into_iter()
        .filter_map(|(category, number)| Some((category, number?)))
        .map(|(category, number)| Ok((category, score(number)?)))
        .collect()
}

impl Provider for Http {
    fn profile(&self) -> &Profile {
        self.transport.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
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
        let request = |content| {
            serde_json::to_string(&Request {
                content,
                categories: ASKED,
            })
        };
        let text = request(Shown::Text("t")).unwrap();
        assert_eq!(text, r#"{"text":"t","categories":["hate","spam"]}"#);
        let image = request(Shown::Image {
            format: ImageFormat::Jpeg,
            content_base64: "AA==".into(),
        });
        assert_eq!(
            image.unwrap(),
            r#"{"image":{"format":"jpeg","content_base64":"AA=="},"categories":["hate","spam"]}"#
        );
    }
}
