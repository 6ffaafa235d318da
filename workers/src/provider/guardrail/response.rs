//! What a guardrail answers: how confident each of its filters is.

use domain::score::{Category, Scores};
use serde::Deserialize;

use crate::provider::{ProviderError, transport::parsed};

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
pub(super) fn read(body: &[u8], categories: &[Category]) -> Result<Scores, ProviderError> {
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
