//! Hive's moderation of texts or of images, `POST {base}/api/v2/task/sync`. A Hive project looks at
//! one of the two and has its own key, so each project is a provider here.
//!
//! Source: Hive's published description of the API and of its classes. A text's classes have
//! severities from 0 to 3. A score is the severity divided by 3. A severity of -1 means that the
//! class does not know the text's language. An image's classes have confidences, which add up to 1
//! within each question that the model answers.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::Limits;
use reqwest::multipart::Form;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    remote::Remote,
    transport::{Transport, highest, media, parsed},
};

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
        // The key selects the project.
        let key = remote.auth.key().to_owned();
        let transport = Transport::new(remote, "hive")?.depending_on(&key);
        Ok(Self {
            transport: transport.with_images(LIMITS),
        })
    }
}

impl RemoteProvider for Hive {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let url = self.transport.at("/api/v2/task/sync");
        match question.content {
            Content::Text(text) => {
                let request = json!({ "text_data": text });
                let received = self.transport.post(url, &request).await?;
                received.answer(|body| of_text(body, &self.transport.profile().scope.text))
            }
            Content::Image(image) => {
                let form = Form::new().part("media", media(image));
                let request = self.transport.shown(self.transport.request(url), &[]);
                let received = self.transport.send(request.multipart(form)).await?;
                received.answer(|body| of_image(body, &self.transport.profile().scope.image))
            }
        }
    }
}

/// The highest severity of a text.
const WORST: f64 = 3.0;
/// The severity of a text in an unknown language.
const UNKNOWN: f64 = -1.0;

#[derive(Deserialize)]
struct Response {
    status: Vec<Status>,
}

#[derive(Deserialize)]
struct Status {
    response: Output,
}

#[derive(Deserialize)]
struct Output {
    output: Vec<Moment>,
}

/// A part of a text, or an image.
#[derive(Deserialize)]
struct Moment {
    classes: Vec<Class>,
}

#[derive(Deserialize)]
struct Class {
    class: String,
    score: f64,
}

/// The classes of an answer, each with its values for the parts of the text.
fn classes(body: &[u8]) -> Result<BTreeMap<String, Vec<f64>>, ProviderError> {
    let response: Response = parsed(body)?;
    let [status] = response.status.as_slice() else {
        return Err(ProviderError::Malformed("not one status"));
    };
    let mut classes: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for Class { class, score } in status.response.output.iter().flat_map(|m| &m.classes) {
        classes.entry(class.clone()).or_default().push(*score);
    }
    Ok(classes)
}

/// The values of some classes, all of which must be there.
fn values(told: &BTreeMap<String, Vec<f64>>, classes: &[&str]) -> Result<Vec<f64>, ProviderError> {
    let mut values = Vec::new();
    for class in classes {
        let told = told.get(*class);
        values.extend(told.ok_or(ProviderError::Malformed("a class is missing"))?);
    }
    Ok(values)
}

fn of_text(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    let mut scores = Scores::default();
    for category in categories {
        let severities = values(&told, text_classes(*category))?;
        // If one part of the text has no score, the other parts do not stand for it.
        if severities.contains(&UNKNOWN) {
            continue;
        }
        let told = severities.into_iter().map(|severity| severity / WORST);
        scores.set(*category, highest(told)?);
    }
    Ok(scores)
}

fn of_image(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    categories
        .iter()
        .map(|category| {
            let confidences = values(&told, image_classes(*category))?;
            Ok((*category, highest(confidences)?))
        })
        .collect()
}

/// Its classes of texts for one of our categories.
const fn text_classes(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["sexual"],
        Category::Violence => &["violence"],
        Category::Hate => &["hate"],
        Category::SelfHarm => &["self_harm"],
        Category::Harassment => &["bullying"],
        Category::SexualMinors => &["child_exploitation"],
        Category::Illicit => &["drugs", "weapons"],
        Category::Spam => &["spam"],
    }
}

/// Its classes of images for one of our categories.
const fn image_classes(ours: Category) -> &'static [&'static str] {
    match ours {
        Category::Adult => &["general_nsfw", "yes_sexual_activity"],
        Category::Violence => &["very_bloody", "human_corpse", "yes_fight"],
        Category::Hate => &["yes_nazi", "yes_kkk", "yes_terrorist"],
        Category::SelfHarm => &["yes_self_harm", "hanging", "noose"],
        Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => &[],
    }
}
