//! OpenAI's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: OpenAI's published API reference, "Moderations". Each piece of a long text is a request
//! of its own, so that it stays within limits of tokens. An image is sent alone, because a second
//! one is refused. Only some categories are scored for images. The others are returned as 0
//! although they were not scored, and `category_applied_input_types` tells which. A flagged
//! category has at least the score that the operator chose, because the service's own thresholds
//! differ by category, and some are far below 0.5.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::{
    image::ImageFormat,
    media::Modality,
    score::{Category, Scores},
};
use picture::Limits;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Transport, data_uri, parsed, score, unique_keys},
};

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 20_000_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[
        ImageFormat::Jpeg,
        ImageFormat::Png,
        ImageFormat::Gif,
        ImageFormat::Webp,
    ],
};

/// The moderation endpoint and our key to it.
pub struct OpenAi {
    transport: Transport,
    model: String,
    flagged_at_least: f64,
}

impl OpenAi {
    /// The categories that it can score in texts.
    pub const TEXT: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
        Category::SexualMinors,
        Category::Illicit,
    ];
    /// The categories that it can score in images.
    pub const IMAGE: &[Category] = &[Category::Adult, Category::Violence, Category::SelfHarm];
    /// Its URL.
    pub const URL: &str = "https://api.openai.com";
    /// The default model.
    pub const MODEL: &str = "omni-moderation-latest";
    /// The least score of a flagged category, unless the operator chose another.
    pub const FLAGGED_AT_LEAST: f64 = 0.5;
    /// Bytes of text in one request: about 2,000 tokens of English.
    pub const PIECE_BYTES: usize = 8_000;

    /// The endpoint at `remote`, whose URL is the base: `https://api.openai.com`, or a compatible
    /// server. Flagged categories have a score of at least `flagged_at_least`, from 0 to 1.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        remote: Remote,
        model: String,
        flagged_at_least: f64,
    ) -> Result<Self, ProviderError> {
        Ok(Self {
            transport: Transport::new(remote, "openai")?
                .with_images(LIMITS)
                .depending_on(&model)
                .depending_on(&flagged_at_least.to_string()),
            model,
            flagged_at_least,
        })
    }
}

impl RemoteProvider for OpenAi {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let modality = question.content.modality();
        let request = json!({ "model": self.model, "input": [input(question.content)] });
        let url = self.transport.at("/v1/moderations");
        let received = self.transport.post(url, &request).await?;
        let categories = self.transport.profile().scope.of(modality);
        received.answer(|body| read(body, modality, categories, self.flagged_at_least))
    }
}

/// One text, or one image.
fn input(content: Content<'_>) -> Value {
    match content {
        Content::Text(text) => json!(text),
        Content::Image(image) => {
            json!({ "type": "image_url", "image_url": { "url": data_uri(image) } })
        }
    }
}

#[derive(Deserialize)]
struct Response {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    /// The flagged categories. Compatible servers may leave this out.
    #[serde(default, deserialize_with = "unique_keys")]
    categories: BTreeMap<String, Option<bool>>,
    #[serde(deserialize_with = "unique_keys")]
    category_scores: BTreeMap<String, Option<f64>>,
    /// Whether each score is about texts or images. Compatible servers for texts only leave this
    /// out.
    #[serde(default, deserialize_with = "unique_keys")]
    category_applied_input_types: BTreeMap<String, Vec<String>>,
}

/// Reads the answer to one input.
fn read(
    body: &[u8],
    modality: Modality,
    categories: &[Category],
    flagged_at_least: f64,
) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    let [judgement] = response.results.as_slice() else {
        return Err(ProviderError::Malformed("not one result for one input"));
    };
    judgement.scores(modality, categories, flagged_at_least)
}

impl Judgement {
    /// The score of each of our categories is the maximum of theirs. All of theirs must be present.
    /// Ours is absent if theirs are null, or not about this kind of content.
    fn scores(
        &self,
        modality: Modality,
        categories: &[Category],
        flagged_at_least: f64,
    ) -> Result<Scores, ProviderError> {
        let mut scores = Scores::default();
        for category in categories {
            let missing = || ProviderError::Malformed("a category is missing");
            let mut theirs = Vec::new();
            for name in names(*category) {
                if self.applies(name, modality).ok_or_else(missing)? {
                    let told = *self.category_scores.get(*name).ok_or_else(missing)?;
                    let is_flagged = self.categories.get(*name).copied().flatten() == Some(true);
                    let least = if is_flagged { flagged_at_least } else { 0.0 };
                    theirs.push(told.map(score).transpose()?.map(|told| told.max(least)));
                }
            }
            let known: Vec<f64> = theirs.iter().copied().flatten().collect();
            match known.iter().copied().reduce(f64::max) {
                Some(score) if known.len() == theirs.len() => scores.set(*category, score),
                Some(_) => return Err(ProviderError::Malformed("half a category is scored")),
                None => {}
            }
        }
        Ok(scores)
    }

    /// Whether one of their scores is about this kind of content, if that is known. Servers for
    /// texts only need not say.
    fn applies(&self, name: &str, modality: Modality) -> Option<bool> {
        let types = self.category_applied_input_types.get(name);
        let is_of = |shown: &str| types.map(|types| types.iter().any(|kind| kind == shown));
        match modality {
            Modality::Text => is_of("text").or(Some(true)),
            Modality::Image => is_of("image"),
        }
    }
}

/// Their categories for one of ours.
const fn names(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["sexual", "sexual/minors"],
        Category::Violence => &["violence", "violence/graphic"],
        Category::Hate => &["hate", "hate/threatening"],
        Category::SelfHarm => &["self-harm", "self-harm/intent", "self-harm/instructions"],
        Category::Harassment => &["harassment", "harassment/threatening"],
        Category::SexualMinors => &["sexual/minors"],
        Category::Illicit => &["illicit", "illicit/violent"],
        Category::Spam => &[],
    }
}
