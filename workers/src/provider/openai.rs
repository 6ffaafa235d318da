//! OpenAI's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: OpenAI's published API reference, "Moderations". Each piece of a long text is a request
//! of its own, so that it stays within limits of tokens. An image is sent alone, because a second
//! one is refused. Only some categories are scored for images. The others are returned as 0
//! although they were not scored, and `category_applied_input_types` tells which. A flagged
//! category has at least the score that the operator chose, because the service's own thresholds
//! differ by category, and some are far below 0.5.

mod request;
mod response;
#[cfg(test)]
mod tests;

use domain::{image::ImageFormat, media::Modality, score::Category};
use futures::{FutureExt as _, future::BoxFuture};

use self::{request::Request, response::read};
use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question, remote::Remote,
    transport::Transport,
};
use crate::picture::Limits;

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

    async fn ask(&self, content: Content<'_>) -> Result<Answer, ProviderError> {
        let modality = match content {
            Content::Text(_) => Modality::Text,
            Content::Image(_) => Modality::Image,
        };
        let request = Request::new(&self.model, content);
        let url = self.transport.at("/v1/moderations");
        let received = self.transport.post(url, &request).await?;
        let categories = self.profile().scope.of(modality);
        let scores = read(&received.body, modality, categories, self.flagged_at_least)?;
        Ok(received.answer(scores))
    }
}

impl Provider for OpenAi {
    fn profile(&self) -> &Profile {
        self.transport.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question.content).boxed()
    }
}
