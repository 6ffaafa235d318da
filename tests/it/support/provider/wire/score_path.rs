//! Where an answer contains the score, so that a fault can put something else there.

use super::Wire;
use crate::support::provider::HIGH;

/// Where the text of a documented answer contains the score for violence of violent content.
pub(crate) struct Place {
    /// The text before the score.
    pub(crate) key: String,
    /// The score of violent content.
    pub(crate) high: String,
    /// The score of calm content.
    pub(crate) low: String,
}

impl Wire {
    /// Where an answer contains the score for violence.
    pub(crate) fn place(self, is_text: bool) -> Place {
        let place = |key: &str, high: &str, low: &str| Place {
            key: key.into(),
            high: high.into(),
            low: low.into(),
        };
        match self {
            Self::OpenAi | Self::Http => place("\"violence\":", "0.97", "0.01"),
            Self::Mistral => place("\"violence_and_threats\":", "0.97", "0.01"),
            // It is in a JSON string, so quotes are escaped.
            Self::Policy | Self::Judge => place("\\\"violence\\\":", "0.97", "0.01"),
            Self::LlamaGuard => place("\"logprob\":", &HIGH.ln().to_string(), "-9.5"),
            Self::Azure if is_text => place("\"severity\":", "7", "0"),
            Self::Azure => place("\"severity\":", "6", "0"),
            Self::Vision => place("\"violence\":", "\"VERY_LIKELY\"", "\"VERY_UNLIKELY\""),
            Self::NaturalLanguage => place("\"confidence\":", "0.97", "0.01"),
            Self::Rekognition => place("\"Confidence\":", "97.0", "1.0"),
            Self::Guardrail => place("\"confidence\":", "\"HIGH\"", "\"NONE\""),
            Self::Hive => place("\"score\":", "3", "0"),
            Self::HiveImages => place("\"score\":", "0.97", "0.01"),
            Self::Sightengine if is_text => place("\"violent\":", "0.97", "0.01"),
            Self::Sightengine => place("\"physical_violence\":", "0.97", "0.01"),
        }
    }
}
