//! The wire formats, as the providers describe them. Each format has a file beside this one; the
//! files below choose the right one.

mod answer;
mod error;
mod members;
mod read;
mod score_path;

use super::HIGH;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// OpenAI's moderation endpoint.
    OpenAi,
    /// Llama Guard 3 behind a chat endpoint.
    LlamaGuard,
    /// A model that judges by a policy, behind a chat endpoint.
    Policy,
    /// The same with a server that knows no schemas, has its own path and header for the key, and
    /// also accepts images.
    Judge,
    /// Our own schema.
    Http,
    /// Azure AI Content Safety.
    Azure,
    /// Google Cloud Vision's `SafeSearch`.
    Vision,
    /// Google Cloud Natural Language's text moderation.
    NaturalLanguage,
    /// Mistral's moderation endpoint.
    Mistral,
    /// AWS Rekognition.
    Rekognition,
    /// AWS Bedrock's `ApplyGuardrail`.
    Guardrail,
    /// Hive's project for texts.
    Hive,
    /// Hive's project for images.
    HiveImages,
    /// Sightengine.
    Sightengine,
}

impl Wire {
    /// The formats for texts.
    pub(crate) const OF_TEXTS: [Self; 11] = [
        Self::OpenAi,
        Self::LlamaGuard,
        Self::Policy,
        Self::Judge,
        Self::Http,
        Self::Azure,
        Self::NaturalLanguage,
        Self::Mistral,
        Self::Guardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// The formats for images.
    pub(crate) const OF_IMAGES: [Self; 9] = [
        Self::OpenAi,
        Self::Judge,
        Self::Http,
        Self::Azure,
        Self::Vision,
        Self::Rekognition,
        Self::Guardrail,
        Self::HiveImages,
        Self::Sightengine,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::LlamaGuard => "guard",
            Self::Policy => "policy",
            Self::Judge => "judge",
            Self::Http => "http",
            Self::Azure => "azure",
            Self::Vision => "vision",
            Self::NaturalLanguage => "language",
            Self::Mistral => "mistral",
            Self::Rekognition => "rekognition",
            Self::Guardrail => "guardrail",
            Self::Hive => "hive",
            Self::HiveImages => "hive-images",
            Self::Sightengine => "sightengine",
        }
    }

    /// Its score for violence of violent content.
    pub(crate) const fn high(self) -> f64 {
        match self {
            Self::Azure | Self::Vision | Self::Guardrail | Self::Hive => 1.0,
            Self::OpenAi
            | Self::LlamaGuard
            | Self::Policy
            | Self::Judge
            | Self::Http
            | Self::NaturalLanguage
            | Self::Mistral
            | Self::Rekognition
            | Self::HiveImages
            | Self::Sightengine => HIGH,
        }
    }
}
