//! Sightengine, `POST {base}/1.0/check.json` for images and `{base}/1.0/text/check.json` for texts,
//! as `multipart/form-data`, so that no URL contains the secret.
//!
//! Source: Sightengine's published description of the API and of its models. The classes of nudity
//! exclude one another, so the adult ones are added up. Of symbols and of classes of violence, the
//! most certain one counts. Asian swastikas and raised fingers do not count as hate. Combat sports,
//! skulls and body waste do not count as violence.

mod image;
mod text;

use domain::{image::ImageFormat, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::multipart::{Form, Part};
use serde::Deserialize;

use self::image::{explain, models};
use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    cost::{Cost, Usage},
    remote::{Auth, Remote},
    transport::{Meaning, Transport},
};
use crate::picture::{Limits, Rendition};

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// The operations that it charges.
const OPERATIONS: Usage = &[("/request/operations", Cost::Units("operations"))];

/// The service, and our key to it.
pub struct Sightengine {
    transport: Transport,
    user: String,
    secret: String,
    languages: String,
}

#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    code: i64,
}

impl Failure {
    fn meaning(&self) -> Meaning {
        match (self.kind.as_str(), self.code) {
            ("usage_limit" | "rate_limit", _) => Meaning::Limited,
            ("api_error" | "internal_error" | "unknown_error", _) => Meaning::Failed,
            // The last pattern is the published example of a wrong key.
            ("credentials_error" | "plan_error", _) | ("argument_error", 1) => Meaning::Denied,
            _ => Meaning::Refused,
        }
    }
}

impl Sightengine {
    /// The categories that it can score in images.
    pub const IMAGE: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// The categories that it can score in texts.
    pub const TEXT: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
    ];
    /// Its URL.
    pub const URL: &str = "https://api.sightengine.com";
    /// The default languages of texts.
    pub const LANGUAGES: &str = "en";
    /// Bytes of text in one request.
    pub const PIECE_BYTES: usize = 5_000;

    /// The service at `remote`, whose URL is the base, for the user with this secret. The `auth` of
    /// `remote` is ignored. Texts are in one of these languages: two-letter codes, separated by
    /// commas.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        mut remote: Remote,
        user: String,
        secret: String,
        languages: String,
    ) -> Result<Self, ProviderError> {
        remote.auth = Auth::Own(format!("{user}:{secret}"));
        let looks = !remote.scope.image.is_empty();
        let transport = Transport::new(remote, "sightengine")?
            .with_explanations(explain)
            .telling(OPERATIONS)
            .depending_on(&languages);
        Ok(Self {
            transport: if looks {
                transport.with_images(LIMITS)
            } else {
                transport
            },
            user,
            secret,
            languages,
        })
    }

    async fn ask_about_text(&self, text: &str) -> Result<Answer, ProviderError> {
        let form = Form::new()
            .text("api_user", self.user.clone())
            .text("api_secret", self.secret.clone())
            .text("mode", "ml")
            .text("models", "general,self-harm")
            .text("lang", self.languages.clone())
            .text("text", text.to_owned());
        let request = self
            .transport
            .request(self.transport.at("/1.0/text/check.json"));
        let received = self.transport.send(request.multipart(form)).await?;
        let scores = text::read(&received.body, &self.profile().scope.text)?;
        Ok(received.answer(scores))
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Rendition { format, bytes } = match question.content {
            Content::Text(text) => return self.ask_about_text(text).await,
            Content::Image(image) => image,
        };
        let length = bytes.len() as u64;
        let media =
            Part::stream_with_length(bytes.clone(), length).file_name(format!("image.{format}"));
        let form = Form::new()
            .text("api_user", self.user.clone())
            .text("api_secret", self.secret.clone())
            .text("models", models(question.categories))
            .part("media", media);
        let request = self.transport.request(self.transport.at("/1.0/check.json"));
        let received = self.transport.send(request.multipart(form)).await?;
        let scores = image::read(&received.body, question.categories)?;
        Ok(received.answer(scores))
    }
}

impl Provider for Sightengine {
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
