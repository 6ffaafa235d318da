//! Hive's moderation of texts or of images, `POST {base}/api/v2/task/sync`. Each project of Hive's looks at one of the two, and has a
//! key of its own, so that each is a provider here.
//!
//! Source: Hive's published description of the API and of its classes. A text's classes have severities from 0 to 3: a score is a
//! severity's part of 3, and -1 says that the class does not know the text's language. An image's classes have confidences, which
//! add up to 1 within each question that the model answers.

use std::collections::BTreeMap;

use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::multipart::{Form, Part};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Remote, Wire, parsed, score},
};
use crate::picture::{Limits, Rendition};

/// What it is shown.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// The highest severity of a text.
const WORST: f64 = 3.0;
/// Instead of a severity: it does not know the language.
const UNKNOWN: f64 = -1.0;

/// A project of Hive's, and our key to it.
pub struct Hive {
    wire: Wire,
}

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

impl Hive {
    /// What it can score of texts.
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
    /// What it can score of images.
    pub const IMAGE: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// Where it is.
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
        // The key decides which project answers.
        let key = remote.auth.key().to_owned();
        let wire = Wire::new(remote, "hive")?.depending_on(&key);
        Ok(Self {
            wire: if looks {
                wire.with_images(LIMITS)
            } else {
                wire
            },
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let url = self.wire.at("/api/v2/task/sync");
        match question.content {
            Content::Text(text) => {
                let request = json!({ "text_data": text });
                let received = self.wire.post(url, &request).await?;
                let scores = of_text(&received.body, &self.profile().scope.text)?;
                Ok(received.answer(scores))
            }
            Content::Image(Rendition { format, bytes }) => {
                let length = bytes.len() as u64;
                let media = Part::stream_with_length(bytes.clone(), length)
                    .file_name(format!("image.{format}"));
                let form = Form::new().part("media", media);
                let request = self.wire.shown(self.wire.request(url), &[]);
                let received = self.wire.send(request.multipart(form)).await?;
                let scores = of_image(&received.body, &self.profile().scope.image)?;
                Ok(received.answer(scores))
            }
        }
    }
}

/// The classes of an answer, each with what is said of it in each part of the text.
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

fn of_text(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    let mut scores = Scores::default();
    for category in categories {
        let mut severities = Vec::new();
        for class in text_classes(*category) {
            let told = told.get(*class);
            severities.extend(told.ok_or(ProviderError::Malformed("a class is missing"))?);
        }
        // A part of the text that it cannot judge is not judged by what it says of the others.
        if severities.contains(&UNKNOWN) {
            continue;
        }
        let told: Vec<f64> = severities
            .into_iter()
            .map(|severity| score(severity / WORST))
            .collect::<Result<_, _>>()?;
        scores.set(*category, told.into_iter().fold(0.0, f64::max));
    }
    Ok(scores)
}

fn of_image(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let told = classes(body)?;
    categories
        .iter()
        .map(|category| {
            let mut highest = 0.0_f64;
            for class in image_classes(*category) {
                let told = told.get(*class);
                for told in told.ok_or(ProviderError::Malformed("a class is missing"))? {
                    highest = highest.max(score(*told)?);
                }
            }
            Ok((*category, highest))
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

impl Provider for Hive {
    fn profile(&self) -> &Profile {
        self.wire.profile()
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
    use serde_json::Value;

    use super::*;

    fn answer(moments: &[&[(&str, f64)]]) -> Vec<u8> {
        let output: Vec<Value> = moments
            .iter()
            .map(|classes| {
                let classes: Vec<Value> = classes
                    .iter()
                    .map(|(class, score)| json!({ "class": class, "score": score }))
                    .collect();
                json!({ "time": 0, "classes": classes })
            })
            .collect();
        let answer = json!({ "code": 200, "status": [{ "response": { "output": output } }] });
        serde_json::to_vec(&answer).unwrap()
    }

    #[test]
    fn severities_are_parts_of_3_and_an_unknown_language_is_no_score() {
        let body = answer(&[
            &[
                ("sexual", 0.0),
                ("hate", 3.0),
                ("drugs", 1.0),
                ("weapons", -1.0),
            ],
            &[
                ("sexual", 1.5),
                ("hate", 1.0),
                ("drugs", 0.0),
                ("weapons", -1.0),
            ],
        ]);
        let categories = [Category::Adult, Category::Hate, Category::Illicit];
        let scores = of_text(&body, &categories).unwrap();
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [(Category::Adult, 0.5), (Category::Hate, 1.0)]
        );
    }

    #[test]
    fn a_part_in_an_unknown_language_is_not_hidden_by_one_in_a_known_language() {
        let body = answer(&[&[("hate", -1.0)], &[("hate", 0.0)]]);
        let scores = of_text(&body, &[Category::Hate]).unwrap();
        assert_eq!(scores.get(Category::Hate), None);
    }

    #[test]
    fn of_an_image_the_most_certain_class_counts() {
        let body = answer(&[&[
            ("very_bloody", 0.25),
            ("human_corpse", 0.5),
            ("yes_fight", 0.125),
            ("no_fight", 0.875),
        ]]);
        let scores = of_image(&body, &[Category::Violence]).unwrap();
        assert_eq!(scores.get(Category::Violence), Some(0.5));
    }

    #[test]
    fn half_an_answer_is_malformed() {
        for body in [
            answer(&[]),
            answer(&[&[("hate", 4.0)]]),
            answer(&[&[("hate", -0.5)]]),
            answer(&[&[("hate", -0.5)], &[("hate", 1.0)]]),
            answer(&[&[("sexual", 1.0)]]),
            br#"{"status":[]}"#.to_vec(),
            b"<html>".to_vec(),
        ] {
            assert!(of_text(&body, &[Category::Hate]).is_err());
            assert!(of_image(&body, &[Category::Hate]).is_err());
        }
    }
}
