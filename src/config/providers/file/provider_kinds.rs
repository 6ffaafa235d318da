//! The kinds of providers, and what each can do.

use domain::{media::Modality, score::Category};
use serde::Deserialize;
use workers::provider::{
    Azure, Builtin, Chat, Guardrail, Hive, Http, Mistral, NaturalLanguage, OpenAi, Rekognition,
    Sightengine, Style, Vision,
};

/// The longest text that a submission can have, in bytes.
const LONGEST_TEXT: usize = 102_400;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Builtin,
    Openai,
    Chat,
    Http,
    Azure,
    Vision,
    NaturalLanguage,
    Mistral,
    Rekognition,
    BedrockGuardrail,
    Hive,
    Sightengine,
}

impl Kind {
    /// Kinds that are reached over the network.
    pub(super) const REMOTE: &[Self] = &[
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::Vision,
        Self::NaturalLanguage,
        Self::Mistral,
        Self::Rekognition,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds of these that analyse texts.
    pub(super) const OF_TEXTS: &[Self] = &[
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::NaturalLanguage,
        Self::Mistral,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds that analyse texts and images.
    pub(super) const OF_BOTH: &[Self] = &[
        Self::Builtin,
        Self::Openai,
        Self::Chat,
        Self::Http,
        Self::Azure,
        Self::BedrockGuardrail,
        Self::Hive,
        Self::Sightengine,
    ];
    /// Kinds of AWS, which have regions and roles.
    pub(super) const OF_AWS: &[Self] = &[Self::Rekognition, Self::BedrockGuardrail];
    /// Kinds whose key has an id.
    pub(super) const WITH_KEY_ID: &[Self] =
        &[Self::Rekognition, Self::BedrockGuardrail, Self::Sightengine];

    /// What it analyses by default. A service of the operator may be older than the support of
    /// images.
    pub(super) fn usual_modalities(self) -> &'static [Modality] {
        match self {
            Self::Chat
            | Self::Http
            | Self::NaturalLanguage
            | Self::Mistral
            | Self::BedrockGuardrail
            | Self::Hive => &[Modality::Text],
            Self::Builtin | Self::Openai | Self::Azure => Modality::ALL,
            Self::Vision | Self::Rekognition | Self::Sightengine => &[Modality::Image],
        }
    }

    /// Whether the file must say what it can score, because that depends on a model or a service of
    /// the operator.
    pub(super) fn is_taught(self, style: Option<&Style>) -> bool {
        self == Self::Http || matches!(style, Some(Style::Policy { .. }))
    }

    /// What it can score in one modality. For a chat, its style decides that.
    pub(super) fn can_score(
        self,
        modality: Modality,
        style: Option<&Style>,
    ) -> &'static [Category] {
        let (text, image): (&'static [Category], &'static [Category]) = match self {
            Self::Builtin => (Builtin::TEXT, Builtin::IMAGE),
            Self::Openai => (OpenAi::TEXT, OpenAi::IMAGE),
            Self::Chat => {
                let of =
                    |modality| style.map_or(&[][..], |style| Chat::categories_of(style, modality));
                (of(Modality::Text), of(Modality::Image))
            }
            Self::Http => (&Category::ALL, &Category::ALL),
            Self::Azure => (Azure::CATEGORIES, Azure::CATEGORIES),
            Self::Vision => (&[], Vision::CATEGORIES),
            Self::NaturalLanguage => (NaturalLanguage::CATEGORIES, &[]),
            Self::Mistral => (Mistral::CATEGORIES, &[]),
            Self::Rekognition => (&[], Rekognition::CATEGORIES),
            Self::BedrockGuardrail => (Guardrail::CATEGORIES, Guardrail::CATEGORIES),
            Self::Hive => (Hive::TEXT, Hive::IMAGE),
            Self::Sightengine => (Sightengine::TEXT, Sightengine::IMAGE),
        };
        match modality {
            Modality::Text => text,
            Modality::Image => image,
        }
    }

    /// How many bytes of text it gets in one piece: the default, and the highest value.
    pub(super) fn piece_bytes(self) -> (u64, u64) {
        let (usual, most) = match self {
            Self::Openai => (OpenAi::PIECE_BYTES, LONGEST_TEXT),
            Self::Chat => (Chat::PIECE_BYTES, LONGEST_TEXT),
            Self::Azure => (Azure::PIECE_BYTES, Azure::PIECE_BYTES),
            Self::NaturalLanguage => (NaturalLanguage::PIECE_BYTES, LONGEST_TEXT),
            Self::Mistral => (Mistral::PIECE_BYTES, LONGEST_TEXT),
            Self::BedrockGuardrail => (Guardrail::PIECE_BYTES, 25_000),
            Self::Hive => (Hive::PIECE_BYTES, Hive::PIECE_BYTES),
            Self::Sightengine => (Sightengine::PIECE_BYTES, LONGEST_TEXT),
            Self::Builtin | Self::Http | Self::Vision | Self::Rekognition => {
                (Http::PIECE_BYTES, LONGEST_TEXT)
            }
        };
        (usual as u64, most as u64)
    }
}
