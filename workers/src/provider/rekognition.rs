//! AWS Rekognition's `DetectModerationLabels`.
//!
//! Source: the operation as the official SDK's crate `aws-sdk-rekognition` sends and reads it, and
//! the published taxonomy, version 7. Labels form a tree: an answer has the parent of each label.
//! With a `MinConfidence` of 0, categories of the taxonomy without a label are 0.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    score::{Category, Scores},
};
use picture::Limits;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, AwsAccess, Content, IMAGE_SIDE, ProviderError, Question, RemoteProvider,
    aws::{Signer, explain},
    remote::Remote,
    transport::{Transport, parsed, score},
};

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 5_000_000,
    min_side: 80,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

const HEADERS: [(&str, &str); 2] = [
    ("content-type", "application/x-amz-json-1.1"),
    ("x-amz-target", "RekognitionService.DetectModerationLabels"),
];

/// The service in a region, and our key to it.
pub struct Rekognition {
    transport: Transport,
    signer: Signer,
}

impl Rekognition {
    /// The categories that it can score in images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::SelfHarm,
    ];

    /// Its URL in a region of AWS. In China, the names are different.
    pub fn url(region: &str) -> String {
        format!("https://rekognition.{region}.amazonaws.com")
    }

    /// The service at `remote` in this region, with this access. The `auth` of `remote` is ignored.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        mut remote: Remote,
        region: String,
        access: AwsAccess,
    ) -> Result<Self, ProviderError> {
        remote.auth = access.auth();
        let signer = Signer::new(access, "rekognition", region, remote.proxy.as_ref())?;
        let transport = Transport::new(remote, "rekognition")?;
        Ok(Self {
            transport: transport.with_images(LIMITS).with_explanations(explain),
            signer,
        })
    }
}

impl RemoteProvider for Rekognition {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let Content::Image(image) = question.content else {
            return Ok(Answer::default());
        };
        let request = json!({
            "Image": { "Bytes": STANDARD.encode(&image.bytes) },
            "MinConfidence": 0,
        });
        let url = self.transport.at("/");
        let received = self
            .signer
            .post(&self.transport, &url, &HEADERS, &request)
            .await?;
        received.answer(|body| read(body, &self.transport.profile().scope.image))
    }
}

/// The beginning of the taxonomy's version. In this version, absent labels are known to be 0.
const VERSION: &str = "7.";
/// The longest chain of parents: the taxonomy has three levels.
const LEVELS: usize = 3;
/// A label below violence that is a category of its own here.
const SELF_HARM: &str = "Self-Harm";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Response {
    moderation_labels: Vec<Label>,
    moderation_model_version: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Label {
    name: String,
    /// Empty or missing for labels at the top.
    #[serde(default)]
    parent_name: String,
    /// From 0 to 100.
    confidence: f64,
}

/// Labels by their names, with scores.
struct Tree<'a> {
    parents: BTreeMap<&'a str, &'a str>,
    scores: BTreeMap<&'a str, f64>,
}

/// The highest confidence among the labels of each category.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if !response.moderation_model_version.starts_with(VERSION) {
        return Err(ProviderError::Malformed("another taxonomy"));
    }
    let tree = Tree::of(&response.moderation_labels)?;
    let scores = categories.iter().map(|category| {
        let labels = tree.scores.iter();
        let ours = labels.filter(|(name, _)| tree.means(name, *category));
        (*category, ours.map(|(_, score)| *score).fold(0.0, f64::max))
    });
    Ok(scores.collect())
}

impl<'a> Tree<'a> {
    fn of(labels: &'a [Label]) -> Result<Self, ProviderError> {
        let mut tree = Self {
            parents: BTreeMap::new(),
            scores: BTreeMap::new(),
        };
        for label in labels {
            tree.parents.insert(&label.name, &label.parent_name);
            let score = score(label.confidence / 100.0)?;
            let highest = tree.scores.entry(&label.name).or_insert(score);
            *highest = highest.max(score);
        }
        Ok(tree)
    }

    /// Whether a label, or one above it, has this name.
    fn is_below(&self, label: &str, name: &str) -> bool {
        let above = std::iter::successors(Some(label), |label| self.parents.get(label).copied());
        above.take(LEVELS).any(|label| label == name)
    }

    fn means(&self, label: &str, category: Category) -> bool {
        match category {
            Category::Adult => self.is_below(label, "Explicit"),
            Category::Violence => {
                self.is_below(label, "Visually Disturbing")
                    || self.is_below(label, "Violence") && !self.is_explained_by_self_harm(label)
            }
            Category::Hate => self.is_below(label, "Hate Symbols"),
            Category::SelfHarm => self.is_below(label, SELF_HARM),
            Category::Harassment | Category::SexualMinors | Category::Illicit | Category::Spam => {
                false
            }
        }
    }

    /// Whether a label of violence is only about self-harm: it is the label of self-harm, or a
    /// parent of it and not more certain.
    fn is_explained_by_self_harm(&self, label: &str) -> bool {
        let certain = |label: &str| self.scores.get(label).copied().unwrap_or(0.0);
        self.is_below(label, SELF_HARM)
            || self.is_below(SELF_HARM, label) && certain(label) <= certain(SELF_HARM)
    }
}
