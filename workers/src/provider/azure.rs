//! Azure AI Content Safety: `POST {endpoint}/contentsafety/text:analyze` and `image:analyze`.
//!
//! Source: Microsoft's published description of the API, version 2024-09-01. It answers with severities, of texts from 0 to 7 and
//! of images 0, 2, 4 or 6, which mean the same on one scale: a score is a severity's part of 6, and 7 is no more than that. Its
//! `Hate` includes what we call harassment, which it does not tell apart, so that harassment is absent.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    Answer, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    wire::{Received, Remote, Wire, parsed},
};
use crate::picture::Limits;

/// The version of the API.
const VERSION: &str = "api-version=2024-09-01";
/// The highest severity of an image, and the one from which on a text's are called high. Texts are told apart more finely.
const WORST: u8 = 6;
/// The highest of all.
const HIGHEST: u8 = 7;

/// What it takes. It says 7,200 pixels in one place and 2,048 in another.
const LIMITS: Limits = Limits {
    bytes: 4 << 20,
    min_side: 50,
    max_side: IMAGE_SIDE,
    formats: &[
        ImageFormat::Jpeg,
        ImageFormat::Png,
        ImageFormat::Gif,
        ImageFormat::Webp,
    ],
};

/// A resource of Azure's, and our key to it.
pub struct Azure {
    wire: Wire,
}

/// Its categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Harm {
    Hate,
    #[serde(rename = "SelfHarm")]
    Injury,
    Sexual,
    Violence,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    categories_analysis: Vec<Finding>,
}

#[derive(Deserialize)]
struct Finding {
    category: Harm,
    severity: u8,
}

impl Azure {
    /// What it can score, of texts as of images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];
    /// The header that has the key.
    pub const KEY_HEADER: &str = "Ocp-Apim-Subscription-Key";
    /// Bytes of text in one request. It takes 10,000 code points, and no code point has less than a byte.
    pub const PIECE_BYTES: usize = 10_000;

    /// The resource at `remote`, whose URL is its endpoint.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(remote: Remote) -> Result<Self, ProviderError> {
        Ok(Self {
            wire: Wire::new(remote, "azure")?.with_images(LIMITS),
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let harms: Vec<Harm> = question
            .categories
            .iter()
            .filter_map(|category| Harm::of(*category))
            .collect();
        match question.content {
            Content::Text(text) => {
                let request = json!({
                    "text": text,
                    "categories": harms,
                    "outputType": "EightSeverityLevels",
                });
                let received = self.post("/contentsafety/text:analyze", &request).await?;
                let scores = read(&received.body, &harms)?;
                Ok(received.answer(scores))
            }
            Content::Image(image) => {
                let request = json!({
                    "image": { "content": STANDARD.encode(&image.bytes) },
                    "categories": harms,
                    "outputType": "FourSeverityLevels",
                });
                let received = self.post("/contentsafety/image:analyze", &request).await?;
                let scores = read(&received.body, &harms)?;
                Ok(received.answer(scores))
            }
        }
    }

    async fn post(&self, path: &str, request: &Value) -> Result<Received, ProviderError> {
        let mut url = self.wire.at(path);
        url.set_query(Some(VERSION));
        self.wire.post(url, request).await
    }
}

impl Harm {
    /// Its category for one of ours.
    fn of(ours: Category) -> Option<Self> {
        match ours {
            Category::Adult => Some(Self::Sexual),
            Category::Violence => Some(Self::Violence),
            Category::Hate => Some(Self::Hate),
            Category::SelfHarm => Some(Self::Injury),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                None
            }
        }
    }

    fn ours(self) -> Category {
        match self {
            Self::Sexual => Category::Adult,
            Self::Violence => Category::Violence,
            Self::Hate => Category::Hate,
            Self::Injury => Category::SelfHarm,
        }
    }
}

/// Reads a severity for each of these, neither more nor less.
fn read(body: &[u8], harms: &[Harm]) -> Result<Scores, ProviderError> {
    let findings = parsed::<Response>(body)?.categories_analysis;
    let asked = harms
        .iter()
        .all(|harm| findings.iter().any(|finding| finding.category == *harm));
    if !asked || findings.len() != harms.len() {
        return Err(ProviderError::Malformed(
            "not the categories that were asked for",
        ));
    }
    findings
        .into_iter()
        .map(|Finding { category, severity }| {
            if severity > HIGHEST {
                return Err(ProviderError::Malformed("a severity is not from 0 to 7"));
            }
            let score = f64::from(severity.min(WORST)) / f64::from(WORST);
            Ok((category.ours(), score))
        })
        .collect()
}

impl Provider for Azure {
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
    use super::*;

    fn answer(findings: &Value) -> Vec<u8> {
        let answer = json!({ "blocklistsMatch": [], "categoriesAnalysis": findings });
        serde_json::to_vec(&answer).unwrap()
    }

    #[test]
    fn a_score_is_a_severity_s_part_of_6() {
        for (severity, expected) in [(0, 0.0), (2, 1.0 / 3.0), (3, 0.5), (6, 1.0), (7, 1.0)] {
            let body = answer(&json!([{ "category": "Violence", "severity": severity }]));
            let scores = read(&body, &[Harm::Violence]).unwrap();
            assert_eq!(scores.get(Category::Violence), Some(expected));
            assert_eq!(scores.get(Category::Hate), None);
        }
    }

    #[test]
    fn everything_but_what_was_asked_for_is_malformed() {
        let hate = json!({ "category": "Hate", "severity": 2 });
        let violence = json!({ "category": "Violence", "severity": 2 });
        for findings in [
            json!([]),
            json!([hate]),
            json!([hate, hate]),
            json!([hate, violence, violence]),
            json!([hate, { "category": "Violence" }]),
            json!([hate, { "category": "Violence", "severity": null }]),
            json!([hate, { "category": "Violence", "severity": 8 }]),
            json!([hate, { "category": "Violence", "severity": -1 }]),
            json!([hate, { "category": "Gore", "severity": 2 }]),
        ] {
            let read = read(&answer(&findings), &[Harm::Hate, Harm::Violence]);
            assert!(read.is_err(), "{findings}");
        }
        assert!(read(b"<html>", &[Harm::Hate]).is_err());
    }
}
