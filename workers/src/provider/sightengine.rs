//! Sightengine, `POST {base}/1.0/check.json` for images and `{base}/1.0/text/check.json` for texts, as `multipart/form-data`, so that
//! the secret stands in no URL.
//!
//! Source: Sightengine's published description of the API and of its models. The classes of nudity exclude one another, so
//! those that are adult are added up; of symbols and of classes of violence the most certain one counts. A swastika of Asia and a
//! finger are no hatred; judo, a skull and what toilets are for are no violence.

mod text;

use std::collections::BTreeMap;

use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use reqwest::{
    header::HeaderMap,
    multipart::{Form, Part},
};
use serde::Deserialize;

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    cost::{Cost, Usage},
    wire::{Auth, Meaning, Remote, Wire, once, parsed, score, told},
};
use crate::picture::{Limits, Rendition};

/// What it is shown.
const LIMITS: Limits = Limits {
    bytes: 8 << 20,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// What it charges for.
const OPERATIONS: Usage = &[("/request/operations", Cost::Units("operations"))];

/// The service, and our key to it.
pub struct Sightengine {
    wire: Wire,
    user: String,
    secret: String,
    languages: String,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default)]
    status: String,
    error: Option<Failure>,
    nudity: Option<Nudity>,
    gore: Option<Classes>,
    violence: Option<Classes>,
    #[serde(rename = "self-harm")]
    self_harm: Option<Probability>,
    offensive: Option<Offensive>,
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
            // The published example of a wrong key is the second one.
            ("credentials_error" | "plan_error", _) | ("argument_error", 1) => Meaning::Denied,
            _ => Meaning::Refused,
        }
    }
}

/// The classes that are adult. The others, from `very_suggestive` to `none`, are the rest to 1.
#[derive(Deserialize)]
struct Nudity {
    sexual_activity: f64,
    sexual_display: f64,
    erotica: f64,
}

/// A model that tells apart what it sees. `prob` is the highest of its classes.
#[derive(Deserialize)]
struct Classes {
    prob: f64,
    #[serde(default, deserialize_with = "once")]
    classes: BTreeMap<String, f64>,
}

impl Classes {
    /// All of them, without those that show no harm; that of all where no classes are told.
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

impl Sightengine {
    /// What it can score, of images.
    pub const IMAGE: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// What it can score, of texts.
    pub const TEXT: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
    ];
    /// Where it is.
    pub const URL: &str = "https://api.sightengine.com";
    /// The languages of texts, unless others are named.
    pub const LANGUAGES: &str = "en";
    /// Bytes of text in one request.
    pub const PIECE_BYTES: usize = 5_000;

    /// The service at `remote`, whose URL is the base and whose own `auth` is of no use here, for the user with this secret.
    /// Texts are in one of these languages, by their two letters, with commas between.
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
        let wire = Wire::new(remote, "sightengine")?
            .with_explanations(explain)
            .telling(OPERATIONS)
            .depending_on(&languages);
        Ok(Self {
            wire: if looks {
                wire.with_images(LIMITS)
            } else {
                wire
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
        let request = self.wire.request(self.wire.at("/1.0/text/check.json"));
        let received = self.wire.send(request.multipart(form)).await?;
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
        let request = self.wire.request(self.wire.at("/1.0/check.json"));
        let received = self.wire.send(request.multipart(form)).await?;
        let scores = read(&received.body, question.categories)?;
        Ok(received.answer(scores))
    }
}

/// The models that score these categories: each one costs.
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

/// What an error says, which comes with a status of its own or with 200.
fn explain(_: &HeaderMap, body: &[u8]) -> Option<Meaning> {
    let response: Response = parsed(body).ok()?;
    let kind = response.error?;
    // Of what it does not explain, the status says more.
    match kind.meaning() {
        Meaning::Refused => None,
        meaning => Some(meaning),
    }
}

fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if let Some(error) = &response.error {
        return Err(error.meaning().error(told(&error.kind), None));
    }
    if response.status != "success" {
        return Err(ProviderError::Malformed("neither success nor failure"));
    }
    categories
        .iter()
        .filter(|category| Sightengine::IMAGE.contains(category))
        .map(|category| Ok((*category, response.score(*category)?)))
        .collect()
}

impl Response {
    /// Our score, for one of [`Sightengine::IMAGE`].
    fn score(&self, category: Category) -> Result<f64, ProviderError> {
        let numbers = self.numbers(category);
        let numbers = numbers.ok_or(ProviderError::Malformed("a model's answer is missing"))?;
        let numbers: Vec<f64> = numbers.into_iter().map(score).collect::<Result<_, _>>()?;
        Ok(match category {
            Category::Adult => numbers.iter().sum::<f64>().min(1.0),
            _ => numbers.into_iter().fold(0.0, f64::max),
        })
    }

    /// What a category is made of, if all of it is there.
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

impl Provider for Sightengine {
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
    use serde_json::{Value, json};

    use super::*;

    fn result() -> Value {
        json!({
            "status": "success",
            "request": { "id": "req_1", "timestamp": 1.5, "operations": 5 },
            "nudity": {
                "sexual_activity": 0.5, "sexual_display": 0.375, "erotica": 0.25, "very_suggestive": 0.01, "none": 0.01,
                "context": { "outdoor_other": 0.9 },
            },
            "gore": { "prob": 0.75 },
            "violence": { "prob": 0.25, "classes": { "physical_violence": 0.25 } },
            "self-harm": { "prob": 0.125, "type": { "real": 0.01 } },
            "offensive": {
                "nazi": 0.25, "asian_swastika": 0.9, "confederate": 0.01, "supremacist": 0.5, "terrorist": 0.01,
                "middle_finger": 0.99,
            },
            "media": { "id": "med_1", "uri": "image.jpeg" },
        })
    }

    fn read_all(answer: &Value) -> Result<Scores, ProviderError> {
        let body = serde_json::to_vec(answer).unwrap();
        read(&body, Sightengine::IMAGE)
    }

    #[test]
    fn classes_that_exclude_one_another_are_added_up_to_1_and_of_others_the_highest_counts() {
        let scores = read_all(&result()).unwrap();
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [
                (Category::Adult, 1.0),
                (Category::Violence, 0.75),
                (Category::Hate, 0.5),
                (Category::SelfHarm, 0.125),
            ]
        );
        let mut calm = result();
        calm["nudity"]["sexual_activity"] = json!(0.125);
        calm["nudity"]["sexual_display"] = json!(0.125);
        let scores = read_all(&calm).unwrap();
        assert_eq!(scores.get(Category::Adult), Some(0.5));
    }

    #[test]
    fn sports_skulls_and_waste_are_no_violence() {
        let mut judo = result();
        judo["violence"] = json!({
            "prob": 0.99, "classes": { "physical_violence": 0.02, "firearm_threat": 0.01, "combat_sport": 0.99 },
        });
        judo["gore"] = json!({
            "prob": 0.98, "classes": { "very_bloody": 0.01, "skull": 0.98, "body_waste": 0.9, "corpse": 0.125 },
            "type": { "real": 0.9 },
        });
        let scores = read_all(&judo).unwrap();
        assert_eq!(scores.get(Category::Violence), Some(0.125));
        judo["gore"]["classes"]["new"] = json!(0.5);
        let scores = read_all(&judo).unwrap();
        assert_eq!(
            scores.get(Category::Violence),
            Some(0.5),
            "what nobody knows yet counts"
        );
    }

    #[test]
    fn only_the_models_that_are_needed_are_asked_for() {
        let asked = [Category::Violence, Category::SelfHarm];
        assert_eq!(models(&asked), "violence,gore-2.0,self-harm");
        let mut without = result();
        without.as_object_mut().unwrap().remove("nudity");
        let body = serde_json::to_vec(&without).unwrap();
        assert_eq!(read(&body, &asked).unwrap().iter().count(), 2);
    }

    #[test]
    fn an_error_says_what_it_is_with_whatever_status() {
        let failure = |kind: &str| json!({ "status": "failure", "error": { "type": kind, "code": 1, "message": "m" } });
        for denied in ["credentials_error", "plan_error", "argument_error"] {
            assert!(matches!(
                read_all(&failure(denied)),
                Err(ProviderError::Denied(_))
            ));
        }
        let read = |kind| read_all(&failure(kind));
        assert!(matches!(
            read("usage_limit"),
            Err(ProviderError::Limited { .. })
        ));
        assert!(matches!(read("api_error"), Err(ProviderError::Failed(_))));
        assert!(matches!(
            read("media_error"),
            Err(ProviderError::Refused(_))
        ));
        let explain = |body: &[u8]| explain(&HeaderMap::new(), body);
        let explained = |kind| explain(&serde_json::to_vec(&failure(kind)).unwrap());
        assert_eq!(explained("usage_limit"), Some(Meaning::Limited));
        assert_eq!(explained("media_error"), None);
        assert_eq!(explain(b"<html>"), None);
    }

    #[test]
    fn everything_else_is_malformed() {
        let mut half = result();
        half.as_object_mut().unwrap().remove("gore");
        let mut beyond = result();
        beyond["self-harm"]["prob"] = json!(1.5);
        let mut odd = result();
        odd["offensive"] = json!({ "prob": 0.1 });
        let mut unsaid = result();
        unsaid["status"] = json!("queued");
        for answer in [
            half,
            beyond,
            odd,
            unsaid,
            json!({}),
            json!({ "status": "success" }),
        ] {
            assert!(read_all(&answer).is_err(), "{answer}");
        }
    }
}
