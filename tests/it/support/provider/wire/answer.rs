//! The answers of each format: the documented one, and those that say less.

use serde_json::{Value, json};

use super::Wire;
use crate::support::provider::chat::{self, Asked};
use crate::support::provider::{
    LOW, Shown, azure, guardrail, hive, mistral, natural_language, openai, own, rekognition,
    sightengine, vision,
};

impl Wire {
    /// The answer that is documented.
    pub(crate) fn well(self, shown: &Shown) -> Value {
        match self {
            Self::OpenAi => openai::well(shown),
            Self::LlamaGuard => chat::well(shown, Asked::LlamaGuard),
            Self::Policy => chat::well(shown, Asked::Schema),
            Self::Judge => chat::well(shown, Asked::Object),
            Self::Http => own::well(shown),
            Self::Azure => azure::well(shown),
            Self::Vision => vision::well(shown),
            Self::NaturalLanguage => natural_language::well(shown),
            Self::Mistral => mistral::well(shown),
            Self::Rekognition => rekognition::well(shown),
            Self::Guardrail => guardrail::well(shown),
            Self::Hive | Self::HiveImages => hive::well(shown),
            Self::Sightengine => sightengine::well(shown),
        }
    }

    /// The answer for content that it cannot score. Some formats have no such answer.
    pub(crate) fn unsure(self, shown: &Shown) -> Value {
        match self {
            Self::OpenAi => openai::unsure(shown),
            Self::Vision => vision::annotated(&json!({ "safeSearchAnnotation": {
                "adult": "UNKNOWN", "violence": "UNKNOWN", "racy": "UNKNOWN",
            } })),
            Self::Http => own::unsure(shown),
            Self::NaturalLanguage => natural_language::unsure(shown),
            Self::Guardrail => guardrail::unsure(),
            Self::Hive => hive::unsure(shown),
            Self::LlamaGuard
            | Self::Policy
            | Self::Judge
            | Self::Azure
            | Self::Mistral
            | Self::Rekognition
            | Self::HiveImages
            | Self::Sightengine => self.well(shown),
        }
    }

    /// The answer without a score for this one of its own categories.
    pub(crate) fn unsure_of(self, shown: &Shown, category: &str) -> Value {
        let mut answer = self.well(shown);
        match self {
            Self::OpenAi => openai::forget(&mut answer, category, shown.is_text()),
            Self::Vision => {
                answer["responses"][0]["safeSearchAnnotation"][category] = "UNKNOWN".into();
            }
            Self::Http => answer["scores"][category] = Value::Null,
            other => unimplemented!("{other:?} has no way to say so"),
        }
        answer
    }

    /// Half of an answer.
    pub(crate) fn half(self, shown: &Shown) -> String {
        match self {
            Self::OpenAi => openai::moderation(&[]).to_string(),
            Self::LlamaGuard => chat::completion("\n\nunsafe", "length").to_string(),
            Self::Policy | Self::Judge => {
                chat::completion("{\"violence\": 0.0", "length").to_string()
            }
            Self::Azure => azure::analysis(&[]).to_string(),
            Self::Vision => json!({ "responses": [] }).to_string(),
            Self::NaturalLanguage => natural_language::moderated(&[]).to_string(),
            Self::Mistral => mistral::moderation(&[]).to_string(),
            Self::Http | Self::Rekognition | Self::Guardrail => {
                let whole = self.well(shown).to_string();
                whole[..whole.len() / 2].to_owned()
            }
            Self::Hive | Self::HiveImages => hive::task(&[]).to_string(),
            Self::Sightengine => sightengine::half(shown).to_string(),
        }
    }

    /// An answer about other categories.
    pub(crate) fn foreign(self, shown: &Shown) -> Value {
        match self {
            Self::OpenAi => openai::moderation(&[json!({ "category_scores": { "gore": LOW } })]),
            Self::LlamaGuard => chat::completion("unsafe\nS99", "stop"),
            Self::Policy | Self::Judge => chat::completion("{\"gore\": 0.01}", "stop"),
            Self::Http => json!({ "scores": { "gore": LOW } }),
            Self::Azure => azure::analysis(&[json!({ "category": "Gore", "severity": 0 })]),
            Self::Vision => vision::annotated(&json!({ "labelAnnotations": [] })),
            Self::NaturalLanguage => {
                natural_language::moderated(&[json!({ "name": "Gore", "confidence": LOW })])
            }
            Self::Mistral => mistral::moderation(&[json!({ "category_scores": { "gore": LOW } })]),
            Self::Rekognition => rekognition::labelled(&[], "6.1"),
            Self::Guardrail => guardrail::foreign(),
            Self::Hive | Self::HiveImages => {
                hive::task(&[vec![json!({ "class": "gore", "score": 0 })]])
            }
            Self::Sightengine => sightengine::foreign(shown),
        }
    }
}
