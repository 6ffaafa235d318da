//! Sightengine, `POST {base}/1.0/check.json` for images and `{base}/1.0/text/check.json` for texts,
//! as `multipart/form-data`, so that no URL contains the secret.
//!
//! Source: Sightengine's published description of the API and of its models. The classes of nudity
//! exclude one another, so the adult ones are added up. Of symbols and of classes of violence, the
//! most certain one counts. Asian swastikas and raised fingers do not count as hate. Combat sports,
//! skulls and body waste do not count as violence.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::Limits;
use reqwest::{header::HeaderMap, multipart::Form};
use serde::Deserialize;

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    cost::{Cost, Usage},
    remote::{Auth, Remote},
    transport::{Meaning, Received, Transport, highest, media, parsed, score, told, unique_keys},
};

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
        let transport = Transport::new(remote, "sightengine")?
            .with_explanations(explain)
            .telling(OPERATIONS)
            .depending_on(&languages);
        Ok(Self {
            transport: transport.with_images(LIMITS),
            user,
            secret,
            languages,
        })
    }

    async fn post(&self, path: &str, form: Form) -> Result<Received, ProviderError> {
        let request = self.transport.request(self.transport.at(path));
        self.transport.send(request.multipart(form)).await
    }
}

impl RemoteProvider for Sightengine {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let form = Form::new()
            .text("api_user", self.user.clone())
            .text("api_secret", self.secret.clone());
        match question.content {
            Content::Text(text) => {
                let form = form
                    .text("mode", "ml")
                    .text("models", "general,self-harm")
                    .text("lang", self.languages.clone())
                    .text("text", text.to_owned());
                let received = self.post("/1.0/text/check.json", form).await?;
                received.answer(|body| read_text(body, &self.transport.profile().scope.text))
            }
            Content::Image(image) => {
                let form = form
                    .text("models", models(question.categories))
                    .part("media", media(image));
                let received = self.post("/1.0/check.json", form).await?;
                received.answer(|body| read_image(body, question.categories))
            }
        }
    }
}

/// An answer about an image or about a text.
#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: String,
    error: Option<Failure>,
    nudity: Option<Nudity>,
    gore: Option<Weighed>,
    violence: Option<Weighed>,
    #[serde(rename = "self-harm")]
    self_harm: Option<Probability>,
    offensive: Option<Offensive>,
    moderation_classes: Option<Classes>,
}

/// The classes that count as adult. The others, from `very_suggestive` to `none`, are the rest to
/// 1.
#[derive(Deserialize)]
struct Nudity {
    sexual_activity: f64,
    sexual_display: f64,
    erotica: f64,
}

/// A model with several classes. `prob` is the highest of them.
#[derive(Deserialize)]
struct Weighed {
    prob: f64,
    #[serde(default, deserialize_with = "unique_keys")]
    classes: BTreeMap<String, f64>,
}

impl Weighed {
    /// The scores of all classes except the harmless ones, or `prob` if the answer has no classes.
    fn without(&self, harmless: &[&str]) -> Vec<f64> {
        let counted = self.classes.iter();
        let counted = counted.filter(|(name, _)| !harmless.contains(&name.as_str()));
        let counted: Vec<f64> = counted.map(|(_, score)| *score).collect();
        if counted.is_empty() {
            vec![self.prob]
        } else {
            counted
        }
    }
}

#[derive(Deserialize)]
struct Probability {
    prob: f64,
}

#[derive(Deserialize)]
struct Offensive {
    nazi: f64,
    confederate: f64,
    supremacist: f64,
    terrorist: f64,
}

/// The models that score these categories. Each model costs.
fn models(categories: &[Category]) -> String {
    let models = categories.iter().flat_map(|category| match category {
        Category::Adult => ["nudity-2.1"].as_slice(),
        Category::Violence => &["violence", "gore-2.0"],
        Category::Hate => &["offensive-2.0"],
        Category::SelfHarm => &["self-harm"],
        Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => &[],
    });
    models.copied().collect::<Vec<_>>().join(",")
}

fn read_image(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response = Response::read(body)?;
    categories
        .iter()
        .filter(|category| Sightengine::IMAGE.contains(category))
        .map(|category| Ok((*category, response.score(*category)?)))
        .collect()
}

impl Response {
    fn read(body: &[u8]) -> Result<Self, ProviderError> {
        let response: Self = parsed(body)?;
        match &response.error {
            Some(error) => Err(error.meaning().error(told(&error.kind), None)),
            None if response.status == "success" => Ok(response),
            None => Err(ProviderError::Malformed("neither success nor failure")),
        }
    }

    /// Our score, for one of [`Sightengine::IMAGE`].
    fn score(&self, category: Category) -> Result<f64, ProviderError> {
        let numbers = self.numbers(category);
        let numbers = numbers.ok_or(ProviderError::Malformed("a model's answer is missing"))?;
        match category {
            Category::Adult => {
                let numbers = numbers.into_iter().map(score);
                Ok(numbers.sum::<Result<f64, _>>()?.min(1.0))
            }
            _ => highest(numbers),
        }
    }

    /// The numbers that a category consists of, if all of them are present.
    fn numbers(&self, category: Category) -> Option<Vec<f64>> {
        match category {
            Category::Adult => {
                let nudity = self.nudity.as_ref()?;
                Some(vec![
                    nudity.sexual_activity,
                    nudity.sexual_display,
                    nudity.erotica,
                ])
            }
            Category::Violence => {
                let (violence, gore) = (self.violence.as_ref()?, self.gore.as_ref()?);
                let mut numbers = violence.without(&["combat_sport"]);
                numbers.extend(gore.without(&["skull", "body_waste"]));
                Some(numbers)
            }
            Category::Hate => {
                let symbols = self.offensive.as_ref()?;
                Some(vec![
                    symbols.nazi,
                    symbols.confederate,
                    symbols.supremacist,
                    symbols.terrorist,
                ])
            }
            Category::SelfHarm => Some(vec![self.self_harm.as_ref()?.prob]),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                None
            }
        }
    }
}

/// The meaning of an error. Its status may be 200.
fn explain(_: &HeaderMap, body: &[u8]) -> Option<Meaning> {
    let response: Response = parsed(body).ok()?;
    let kind = response.error?;
    // For the other errors, the status says more.
    match kind.meaning() {
        Meaning::Refused => None,
        meaning => Some(meaning),
    }
}

/// The classes of the models `general` and `self-harm`; how certain each one is.
#[derive(Deserialize)]
struct Classes {
    sexual: f64,
    discriminatory: f64,
    insulting: f64,
    violent: f64,
    toxic: f64,
    #[serde(rename = "self-harm")]
    self_harm: f64,
}

/// Reads the classes of a text.
fn read_text(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let classes = Response::read(body)?.moderation_classes;
    let classes = classes.ok_or(ProviderError::Malformed("neither success nor failure"))?;
    categories
        .iter()
        .filter_map(|category| Some((*category, classes.of(*category)?)))
        .map(|(category, told)| Ok((category, score(told)?)))
        .collect()
}

impl Classes {
    fn of(&self, category: Category) -> Option<f64> {
        match category {
            Category::Adult => Some(self.sexual),
            Category::Violence => Some(self.violent),
            Category::Hate => Some(self.discriminatory),
            Category::Harassment => Some(self.insulting.max(self.toxic)),
            Category::SelfHarm => Some(self.self_harm),
            Category::SexualMinors | Category::Illicit | Category::Spam => None,
        }
    }
}
