//! AWS Bedrock's `ApplyGuardrail`: the content filters of a guardrail that the operator made in Bedrock.
//!
//! Source: AWS's published description of the operation. With `FULL` scope an answer tells of each filter that the guardrail has how
//! confident it is, in four words. A filter that the guardrail does not have is not told of, so that its category is absent. An account
//! or an organisation may enforce further guardrails, each with an assessment of its own: of all of them the most confident counts.

use std::time::SystemTime;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use domain::{
    image::ImageFormat,
    media::Modality,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, AwsKey, Content, IMAGE_SIDE, Profile, Provider, ProviderError, Question,
    aws::{Signer, explain},
    wire::{Remote, Wire, parsed},
};
use crate::picture::Limits;

/// What it takes.
const LIMITS: Limits = Limits {
    bytes: 4_000_000,
    min_side: 1,
    max_side: IMAGE_SIDE,
    formats: &[ImageFormat::Jpeg, ImageFormat::Png],
};

const HEADERS: [(&str, &str); 1] = [("content-type", "application/json")];

/// A guardrail in a region, and our key to it.
pub struct Guardrail {
    wire: Wire,
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

impl Guardrail {
    /// What its filters score, of texts as of images.
    pub const CATEGORIES: &[Category] = &[
        Category::Adult,
        Category::Violence,
        Category::Hate,
        Category::Harassment,
        Category::Illicit,
    ];
    /// Bytes of text in one request: it charges by a thousand characters, and takes 25 of such units.
    pub const PIECE_BYTES: usize = 8_000;

    /// Where it is in a region of AWS's; in China it has other names.
    pub fn url(region: &str) -> String {
        format!("https://bedrock-runtime.{region}.amazonaws.com")
    }

    /// The guardrail at `remote`, whose own `auth` is of no use here, in this region, for who has this key.
    ///
    /// # Errors
    /// [`ProviderError::Unreachable`] when the HTTP client cannot be set up.
    pub fn new(
        mut remote: Remote,
        region: String,
        key: AwsKey,
        guardrail: &GuardrailId,
    ) -> Result<Self, ProviderError> {
        remote.auth = key.auth();
        let looks = !remote.scope.image.is_empty();
        let wire = Wire::new(remote, "bedrock_guardrail")?.with_explanations(explain);
        let GuardrailId { id, version } = guardrail;
        Ok(Self {
            wire: if looks {
                wire.with_images(LIMITS)
            } else {
                wire
            },
            signer: Signer::new(key, "bedrock", region),
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
        let url = self.wire.at(&self.path);
        let request = self.wire.request(url.clone());
        let now = SystemTime::now();
        let request = self.signer.sign(request, &url, &HEADERS, &body, now);
        let received = self.wire.send(request.body(body)).await?;
        let scores = read(&received.body, self.profile().scope.of(modality))?;
        Ok(received.answer(scores))
    }
}

/// Reads what the filters of these categories say.
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

/// Its filter for one of our categories.
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

impl Provider for Guardrail {
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

    fn assessment(filters: &[(&str, &str)]) -> Value {
        let filters: Vec<Value> = filters
            .iter()
            .map(|(kind, confidence)| {
                json!({ "type": kind, "confidence": confidence, "filterStrength": "HIGH", "action": "NONE" })
            })
            .collect();
        json!({ "contentPolicy": { "filters": filters }, "invocationMetrics": {} })
    }

    fn answer_of(assessments: &[Value]) -> Vec<u8> {
        let answer = json!({
            "usage": { "contentPolicyUnits": 1 },
            "action": "NONE",
            "outputs": [],
            "assessments": assessments,
        });
        serde_json::to_vec(&answer).unwrap()
    }

    fn answer(filters: &[(&str, &str)]) -> Vec<u8> {
        answer_of(&[assessment(filters)])
    }

    #[test]
    fn of_several_guardrails_the_most_confident_counts() {
        let own = assessment(&[("VIOLENCE", "LOW"), ("HATE", "MEDIUM"), ("SEXUAL", "NONE")]);
        let enforced = assessment(&[("VIOLENCE", "HIGH"), ("HATE", "LOW")]);
        let without_filters = json!({ "topicPolicy": { "topics": [] } });
        let body = answer_of(&[own, enforced, without_filters]);
        let scores = read(&body, Guardrail::CATEGORIES).unwrap();
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [
                (Category::Adult, 0.0),
                (Category::Violence, 1.0),
                (Category::Hate, 0.7),
            ]
        );
    }

    #[test]
    fn words_are_scores_and_a_filter_that_the_guardrail_lacks_is_absent() {
        let body = answer(&[
            ("SEXUAL", "NONE"),
            ("VIOLENCE", "LOW"),
            ("HATE", "MEDIUM"),
            ("MISCONDUCT", "HIGH"),
            ("PROMPT_ATTACK", "HIGH"),
        ]);
        let scores = read(&body, Guardrail::CATEGORIES).unwrap();
        assert_eq!(
            scores.iter().collect::<Vec<_>>(),
            [
                (Category::Adult, 0.0),
                (Category::Violence, 0.35),
                (Category::Hate, 0.7),
                (Category::Illicit, 1.0),
            ]
        );
        let nothing = serde_json::to_vec(&json!({ "assessments": [{}] })).unwrap();
        assert!(read(&nothing, Guardrail::CATEGORIES).unwrap().is_empty());
    }

    #[test]
    fn everything_else_is_malformed() {
        for body in [
            answer(&[("HATE", "SURE")]),
            b"{}".to_vec(),
            br#"{"assessments":[]}"#.to_vec(),
            b"<html>".to_vec(),
        ] {
            assert!(read(&body, &[Category::Hate]).is_err());
        }
    }
}
