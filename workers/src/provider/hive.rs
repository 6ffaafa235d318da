//! Hive's moderation of texts or of images, `POST {base}/api/v2/task/sync`. A Hive project looks at
//! one of the two and has its own key, so each project is a provider here.
//!
//! Source: Hive's published description of the API and of its classes. A text's classes have
//! severities from 0 to 3. A score is the severity divided by 3. A severity of -1 means that the
//! class does not know the text's language. An image's classes have confidences, which add up to 1
//! within each question that the model answers.

mod response;
#[cfg(test)]
mod tests;

use domain::{image::ImageFormat, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::multipart::{Form, Part};
use serde_json::json;

use self::response::{of_image, of_text};
use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question, remote::Remote,
    transport::Transport,
};
use crate::picture::{Limits, Rendition};

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// A project of Hive's, and our key to it.
pub struct Hive {
    transport: Transport,
}

impl Hive {
    /// The categories that it can score in texts.
    pub const TEXT: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
        Category::SexualMinors,
        Category::Illicit,
        Category::Spam,
    ];
    /// The categories that it can score in images.
    pub const IMAGE: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// Its URL.
    pub const URL: &str = "https://api.thehive.ai";
    /// The header that has the key, behind the word `token`.
    pub const KEY_HEADER: &str = "authorization";
    /// Bytes of text in one request. It takes 1,024 characters.
    pub const PIECE_BYTES: usize = 1_000;

    /// The project at `remote`, whose URL is the base.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        let looks = !remote.scope.image.is_empty();
        // The key selects the project.
        let key = remote.auth.key().to_owned();
        let transport = Transport::new(remote, "hive")?.depending_on(&key);
        Ok(Self {
            transport: if looks {
                transport.with_images(LIMITS)
            } else {
                transport
            },
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let url = self.transport.at("/api/v2/task/sync");
        match question.content {
            Content::Text(text) => {
                let request = json!({ "text_data": text });
                let received = self.transport.post(url, &request).await?;
                let scores = of_text(&received.body, &self.profile().scope.text)?;
                Ok(received.answer(scores))
            }
            Content::Image(Rendition { format, bytes }) => {
                let length = bytes.len() as u64;
                let media = Part::stream_with_length(bytes.clone(), length)
                    .file_name(format!("image.{format}"));
                let form = Form::new().part("media", media);
                let request = self.transport.shown(self.transport.request(url), &[]);
                let received = self.transport.send(request.multipart(form)).await?;
                let scores = of_image(&received.body, &self.profile().scope.image)?;
                Ok(received.answer(scores))
            }
        }
    }
}

impl Provider for Hive {
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
