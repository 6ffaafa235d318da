//! OpenAI's moderation endpoint, `POST {base}/v1/moderations`.
//!
//! Source: OpenAI's published API reference, "Moderations". Each piece of a long text is a request, which a limit of
//! tokens can let pass; an image goes alone: a second one is refused. Of an image only some categories are scored, and the others come back as 0, which they are not:
//! `category_applied_input_types` tells them apart. What it flags counts at least as much as the operator says: it knows its own
//! thresholds, which differ by category and are far below 0.5 for some.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    media::Modality,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Remote, Wire, once, parsed, score},
};
use crate::picture::{Limits, Rendition};

/// What it takes.
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
    wire: Wire,
    model: String,
    flagged_at_least: f64,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Input<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Text([&'a str; 1]),
    Image([ImagePart; 1]),
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "image_url")]
struct ImagePart {
    image_url: ImageUrl,
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

impl ImagePart {
    fn new(Rendition { format, bytes }: &Rendition) -> Self {
        let encoded = STANDARD.encode(bytes);
        Self {
            image_url: ImageUrl {
                url: format!("data:image/{format};base64,{encoded}"),
            },
        }
    }
}

#[derive(Deserialize)]
struct Response {
    results: Vec<Judgement>,
}

#[derive(Deserialize)]
struct Judgement {
    /// What it flags; compatible servers may leave it out.
    #[serde(default, deserialize_with = "once")]
    categories: BTreeMap<String, Option<bool>>,
    #[serde(deserialize_with = "once")]
    category_scores: BTreeMap<String, Option<f64>>,
    /// What each score is of; compatible servers that know texts only leave it out.
    #[serde(default, deserialize_with = "once")]
    category_applied_input_types: BTreeMap<String, Vec<String>>,
}

impl OpenAi {
    /// What it can score of texts.
    pub const TEXT: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
        Category::Harassment,
        Category::SexualMinors,
        Category::Illicit,
    ];
    /// What it can score of images.
    pub const IMAGE: &[Category] = &[Category::Adult, Category::Violence, Category::SelfHarm];
    /// Where it is.
    pub const URL: &str = "https://api.openai.com";
    /// Its model, unless another is named.
    pub const MODEL: &str = "omni-moderation-latest";
    /// The least score of a category that it flags, unless the operator says another.
    pub const FLAGGED_AT_LEAST: f64 = 0.5;
    /// Bytes of text in one request: about 2,000 tokens of English.
    pub const PIECE_BYTES: usize = 8_000;

    /// The endpoint at `remote`, whose URL is the base: `https://api.openai.com`, or a compatible server. What it flags has a score
    /// of at least `flagged_at_least`, from 0 to 1.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        remote: Remote,
        model: String,
        flagged_at_least: f64,
    ) -> Result<Self, ProviderError> {
        Ok(Self {
            wire: Wire::new(remote, "openai")?
                .with_images(LIMITS)
                .depending_on(&model)
                .depending_on(&flagged_at_least.to_string()),
            model,
            flagged_at_least,
        })
    }

    async fn ask(&self, content: Content<'_>) -> Result<Answer, ProviderError> {
        let (input, modality) = match content {
            Content::Text(text) => (Input::Text([text]), Modality::Text),
            Content::Image(image) => (Input::Image([ImagePart::new(image)]), Modality::Image),
        };
        let request = Request {
            model: &self.model,
            input,
        };
        let url = self.wire.at("/v1/moderations");
        let received = self.wire.post(url, &request).await?;
        let categories = self.profile().scope.of(modality);
        let scores = read(&received.body, modality, categories, self.flagged_at_least)?;
        Ok(received.answer(scores))
    }
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
    /// The maximum over their categories for each of ours. Theirs must all be there; where they are null, or are not of
    /// what they were shown, ours is absent.
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
                    let score = *self.category_scores.get(*name).ok_or_else(missing)?;
                    let is_flagged = self.categories.get(*name).copied().flatten() == Some(true);
                    let least = if is_flagged { flagged_at_least } else { 0.0 };
                    theirs.push(score.map(|told| score_of(told, least)).transpose()?);
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

    /// Whether one of their scores is of what was shown, if that can be known. Servers that look at texts only need not tell.
    fn applies(&self, name: &str, modality: Modality) -> Option<bool> {
        let types = self.category_applied_input_types.get(name);
        let is_of = |shown: &str| types.map(|types| types.iter().any(|kind| kind == shown));
        match modality {
            Modality::Text => is_of("text").or(Some(true)),
            Modality::Image => is_of("image"),
        }
    }
}

/// A score of theirs, raised to what it is at least.
fn score_of(told: f64, least: f64) -> Result<f64, ProviderError> {
    score(told).map(|told| told.max(least))
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

impl Provider for OpenAi {
    fn profile(&self) -> &Profile {
        self.wire.profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question.content).boxed()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result() -> Value {
        json!({
            "sexual": 0.1, "sexual/minors": 0.4, "violence": 0.2, "violence/graphic": 0.7, "hate": 0.1,
            "hate/threatening": 0.2, "harassment": 0, "harassment/threatening": 0, "self-harm": 0,
            "self-harm/intent": 0, "self-harm/instructions": 0.3, "illicit": null, "illicit/violent": null, "new": 0.9,
        })
    }

    fn answer(results: &[Value]) -> Vec<u8> {
        let results: Vec<_> = results
            .iter()
            .map(|scores| json!({"flagged": true, "category_scores": scores}))
            .collect();
        serde_json::to_vec(&json!({"id": "m", "model": "omni", "results": results})).unwrap()
    }

    #[test]
    fn categories_are_mapped_by_the_maximum_and_unknown_scores_are_absent() {
        let scores = read(&answer(&[result()]), Modality::Text, OpenAi::TEXT, 0.5).unwrap();
        assert_eq!(scores.get(Category::Adult), Some(0.4));
        assert_eq!(scores.get(Category::Violence), Some(0.7));
        assert_eq!(scores.get(Category::SelfHarm), Some(0.3));
        assert_eq!(scores.get(Category::Harassment), Some(0.0));
        assert_eq!(scores.get(Category::Illicit), None);
        assert_eq!(scores.get(Category::Spam), None);
    }

    #[test]
    fn what_is_flagged_counts_at_least_as_much_as_the_operator_says() {
        let body = json!({ "results": [{
            "flagged": true,
            "categories": { "sexual/minors": true, "violence": true, "hate": false },
            "category_scores": {
                "sexual": 0.2, "sexual/minors": 0.31, "violence": 0.9, "violence/graphic": 0, "hate": 0.3,
                "hate/threatening": 0,
            },
        }] });
        let body = serde_json::to_vec(&body).unwrap();
        let categories = [Category::SexualMinors, Category::Violence, Category::Hate];
        for (least, expected) in [(0.5, 0.5), (0.8, 0.8), (0.0, 0.31)] {
            let scores = read(&body, Modality::Text, &categories, least).unwrap();
            assert_eq!(scores.get(Category::SexualMinors), Some(expected));
            assert_eq!(scores.get(Category::Violence), Some(0.9));
            assert_eq!(scores.get(Category::Hate), Some(0.3));
        }
    }

    #[test]
    fn only_what_is_to_be_scored_is() {
        let scores = read(
            &answer(&[result()]),
            Modality::Text,
            &[Category::Violence],
            0.5,
        )
        .unwrap();
        assert_eq!(scores.iter().count(), 1);
    }

    #[test]
    fn half_an_answer_and_a_foreign_one_are_malformed() {
        let mut without = result();
        without.as_object_mut().unwrap().remove("violence/graphic");
        let mut beyond = result();
        beyond["hate"] = json!(1.5);
        for body in [
            answer(&[]),
            answer(&[result(), result()]),
            answer(&[without]),
            answer(&[beyond]),
            answer(&[json!({"gore": 1})]),
            b"{}".to_vec(),
            b"<html>".to_vec(),
        ] {
            let read = read(&body, Modality::Text, OpenAi::TEXT, 0.5);
            assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
        }
    }

    /// As the service answers for an image: what it did not look for is 0.
    fn answer_to_image(applied: &Value) -> Vec<u8> {
        let result = json!({
            "flagged": true,
            "category_scores": {
                "sexual": 0.1, "sexual/minors": 0, "violence": 0.2, "violence/graphic": 0.7, "hate": 0,
                "hate/threatening": 0, "harassment": 0, "harassment/threatening": 0, "self-harm": 0.01,
                "self-harm/intent": 0.02, "self-harm/instructions": 0.03, "illicit": 0, "illicit/violent": 0,
            },
            "category_applied_input_types": applied,
        });
        serde_json::to_vec(&json!({"id": "m", "model": "omni", "results": [result]})).unwrap()
    }

    #[test]
    fn what_was_not_looked_for_in_an_image_is_absent_although_it_comes_back_as_0() {
        let applied = json!({
            "sexual": ["image"], "sexual/minors": [], "violence": ["image"], "violence/graphic": ["image"], "hate": [],
            "hate/threatening": [], "harassment": [], "harassment/threatening": [], "self-harm": ["image"],
            "self-harm/intent": ["image"], "self-harm/instructions": ["image"], "illicit": [], "illicit/violent": [],
        });
        // Even if an operator's wish or a change of ours asked for all of them.
        let read = |body: &[u8]| read(body, Modality::Image, OpenAi::TEXT, 0.5);
        let scores = read(&answer_to_image(&applied)).unwrap();
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [
                (Category::Adult, 0.1),
                (Category::Violence, 0.7),
                (Category::SelfHarm, 0.03)
            ]
        );
        for unsaid in [json!({}), json!({ "sexual": ["image"] })] {
            assert!(read(&answer_to_image(&unsaid)).is_err(), "{unsaid}");
        }
    }

    #[test]
    fn what_was_not_looked_for_in_a_text_is_absent_and_a_server_that_does_not_tell_is_believed() {
        let body = |applied: &Value| {
            let mut scores = result();
            scores["illicit"] = json!(0);
            scores["illicit/violent"] = json!(0);
            let result =
                json!({ "category_scores": scores, "category_applied_input_types": applied });
            serde_json::to_vec(&json!({ "results": [result] })).unwrap()
        };
        let read = |body: &[u8]| {
            let categories = [Category::Illicit, Category::Violence];
            read(body, Modality::Text, &categories, 0.5).unwrap()
        };
        let told = json!({ "illicit": [], "illicit/violent": [], "violence": ["text"] });
        let scores = read(&body(&told));
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [(Category::Violence, 0.7)]
        );
        let untold = read(&body(&json!({})));
        assert_eq!(untold.get(Category::Illicit), Some(0.0));
    }

    #[test]
    fn a_score_that_is_there_twice_is_malformed() {
        let body =
            br#"{"results":[{"category_scores":{"sexual/minors":0.97,"sexual/minors":0.01}}]}"#;
        let read = read(body, Modality::Text, &[Category::SexualMinors], 0.5);
        assert!(matches!(read, Err(ProviderError::Malformed(_))), "{read:?}");
    }

    #[test]
    fn an_image_is_one_part_with_its_bytes() {
        let part = ImagePart::new(&Rendition {
            format: ImageFormat::Png,
            bytes: vec![0, 1].into(),
        });
        let request = Request {
            model: "omni",
            input: Input::Image([part]),
        };
        assert_eq!(
            serde_json::to_value(&request).unwrap()["input"],
            json!([{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AAE=" } }])
        );
    }
}
