//! AWS Bedrock's `ApplyGuardrail`: the content filters of a guardrail that the operator made in Bedrock.
//!
//! Source: AWS's published description of the operation. With `FULL` scope, an answer has the
//! confidence of each filter of the guardrail, as one of four words. Filters that the guardrail
//! does not have are missing, so their categories are absent. An account or an organisation may
//! enforce more guardrails, each with its own assessment. The most confident one counts.

#[cfg(test)]
mod tests;

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
    cost::{Cost, Usage},
    remote::Remote,
    transport::{Transport, parsed},
};

/// The images that it takes.
const LIMITS: Limits = Limits {
    bytes: 4_000_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

/// Each policy of the guardrail is charged separately: texts in units of a thousand characters,
/// images one by one.
const UNITS: Usage = &[
    ("/usage/contentPolicyUnits", Cost::Units("content_policy")),
    (
        "/usage/contentPolicyImageUnits",
        Cost::Units("content_policy_image"),
    ),
    ("/usage/topicPolicyUnits", Cost::Units("topic_policy")),
    ("/usage/wordPolicyUnits", Cost::Units("word_policy")),
    (
        "/usage/sensitiveInformationPolicyUnits",
        Cost::Units("sensitive_information_policy"),
    ),
    (
        "/usage/sensitiveInformationPolicyFreeUnits",
        Cost::Units("sensitive_information_policy_free"),
    ),
    (
        "/usage/contextualGroundingPolicyUnits",
        Cost::Units("contextual_grounding_policy"),
    ),
];

const HEADERS: [(&str, &str); 1] = [("content-type", "application/json")];

/// A guardrail in a region, and our key to it.
pub struct Guardrail {
    transport: Transport,
    signer: Signer,
    path: String,
}

/// Which guardrail it is.
#[derive(Clone, Debug)]
pub struct GuardrailId {
    /// Its id: letters and digits.
    pub id: String,
    /// Its version: a number, or `DRAFT`.
    pub version: String,
}

impl Guardrail {
    /// The categories that its filters score, in texts and in images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::Harassment,
        Category::Illicit,
    ];
    /// Bytes of text in one request. It charges by thousand characters, and takes 25 of these
    /// units.
    pub const PIECE_BYTES: usize = 8_000;

    /// Its URL in a region of AWS. In China, the names are different.
    pub fn url(region: &str) -> String {
        format!("https://bedrock-runtime.{region}.amazonaws.com")
    }

    /// The guardrail at `remote` in this region, with this access. The `auth` of `remote` is
    /// ignored.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        mut remote: Remote,
        region: String,
        access: AwsAccess,
        guardrail: &GuardrailId,
    ) -> Result<Self, ProviderError> {
        remote.auth = access.auth();
        let signer = Signer::new(access, "bedrock", region, remote.proxy.as_ref())?;
        let GuardrailId { id, version } = guardrail;
        let transport = Transport::new(remote, "bedrock_guardrail")?
            .with_explanations(explain)
            .telling(UNITS)
            .depending_on(id)
            .depending_on(version);
        Ok(Self {
            transport: transport.with_images(LIMITS),
            signer,
            path: format!("/guardrail/{id}/version/{version}/apply"),
        })
    }
}

impl RemoteProvider for Guardrail {
    fn transport(&self) -> &Transport {
        &self.transport
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let content = match question.content {
            Content::Text(text) => json!({ "text": { "text": text } }),
            Content::Image(image) => {
                let image = json!({
                    "format": image.format,
                    "source": { "bytes": STANDARD.encode(&image.bytes) },
                });
                json!({ "image": image })
            }
        };
        let modality = question.content.modality();
        let request = json!({ "source": "INPUT", "outputScope": "FULL", "content": [content] });
        let url = self.transport.at(&self.path);
        let received = self
            .signer
            .post(&self.transport, &url, &HEADERS, &request)
            .await?;
        received.answer(|body| read(body, self.transport.profile().scope.of(modality)))
    }
}

#[derive(Deserialize)]
struct Response {
    assessments: Vec<Assessment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assessment {
    #[serde(default)]
    content_policy: Option<ContentPolicy>,
}

#[derive(Deserialize)]
struct ContentPolicy {
    filters: Vec<Filter>,
}

#[derive(Deserialize)]
struct Filter {
    #[serde(rename = "type")]
    kind: String,
    confidence: Confidence,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Confidence {
    None,
    Low,
    Medium,
    High,
}

impl Confidence {
    const fn score(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Low => 0.35,
            Self::Medium => 0.7,
            Self::High => 1.0,
        }
    }
}

/// Reads the confidence of the filters for these categories.
fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
    let response: Response = parsed(body)?;
    if response.assessments.is_empty() {
        return Err(ProviderError::Malformed("no assessment"));
    }
    let policies = response.assessments.iter();
    let policies = policies.filter_map(|assessment| assessment.content_policy.as_ref());
    let filters: Vec<&Filter> = policies.flat_map(|policy| &policy.filters).collect();
    let mut scores = Scores::default();
    for category in categories {
        let told = filters
            .iter()
            .filter(|filter| Some(filter.kind.as_str()) == filter_of(*category))
            .map(|filter| filter.confidence.score());
        if let Some(score) = told.reduce(f64::max) {
            scores.set(*category, score);
        }
    }
    Ok(scores)
}

/// Its filter for a category of ours.
const fn filter_of(ours: Category) -> Option<&'static str> {
    match ours {
        Category::Adult => Some("SEXUAL"),
        Category::Violence => Some("VIOLENCE"),
        Category::Hate => Some("HATE"),
        Category::Harassment => Some("INSULTS"),
        Category::Illicit => Some("MISCONDUCT"),
        Category::SelfHarm | Category::SexualMinors | Category::Spam => None,
    }
}
