//! AWS Bedrock's `ApplyGuardrail`: the content filters of a guardrail that the operator made in Bedrock.
//!
//! Source: AWS's published description of the operation. With `FULL` scope, an answer has the
//! confidence of each filter of the guardrail, as one of four words. Filters that the guardrail
//! does not have are missing, so their categories are absent. An account or an organisation may
//! enforce more guardrails, each with its own assessment. The most confident one counts.

mod response;
#[cfg(test)]
mod tests;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{image::ImageFormat, media::Modality, score::Category};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::json;

use self::response::read;
use super::{
    Answer, AwsAccess, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    aws::{Signer, explain},
    cost::{Cost, Usage},
    remote::Remote,
    transport::Transport,
};
use crate::picture::Limits;

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
        let looks = !remote.scope.image.is_empty();
        let GuardrailId { id, version } = guardrail;
        let transport = Transport::new(remote, "bedrock_guardrail")?
            .with_explanations(explain)
            .telling(UNITS)
            .depending_on(id)
            .depending_on(version);
        Ok(Self {
            transport: if looks {
                transport.with_images(LIMITS)
            } else {
                transport
            },
            signer,
            path: format!("/guardrail/{id}/version/{version}/apply"),
        })
    }

    async fn ask(&self, question: Question<'_>) -> Result<Answer, ProviderError> {
        let (content, modality) = match question.content {
            Content::Text(text) => (json!({ "text": { "text": text } }), Modality::Text),
            Content::Image(image) => {
                let image = json!({
                    "format": image.format,
                    "source": { "bytes": STANDARD.encode(&image.bytes) },
                });
                (json!({ "image": image }), Modality::Image)
            }
        };
        let request = json!({ "source": "INPUT", "outputScope": "FULL", "content": [content] });
        let body = serde_json::to_vec(&request).expect("what we send is JSON");
        let url = self.transport.at(&self.path);
        let received = self
            .signer
            .post(&self.transport, &url, &HEADERS, body)
            .await?;
        let scores = read(&received.body, self.profile().scope.of(modality))?;
        Ok(received.answer(scores))
    }
}

impl Provider for Guardrail {
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
