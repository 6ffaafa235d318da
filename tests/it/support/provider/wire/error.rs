//! The errors of each format.

use serde_json::{Value, json};

use super::Wire;
use crate::support::provider::{azure, guardrail, hive, mistral, rekognition, sightengine, vision};

impl Wire {
    /// A limit that the status does not report, in formats that have such an answer.
    pub(crate) fn hidden(self) -> (u16, Value) {
        match self {
            Self::Vision => vision::hidden(),
            Self::Rekognition => rekognition::hidden(),
            Self::Sightengine => sightengine::hidden(),
            Self::OpenAi
            | Self::LlamaGuard
            | Self::Policy
            | Self::Judge
            | Self::Http
            | Self::Azure
            | Self::NaturalLanguage
            | Self::Mistral
            | Self::Guardrail
            | Self::Hive
            | Self::HiveImages => (429, self.error(429, "rate_limit_exceeded")),
        }
    }

    /// The body of an error.
    pub(crate) fn error(self, status: u16, code: &str) -> Value {
        match self {
            Self::Azure => azure::error(code),
            Self::Vision | Self::NaturalLanguage => vision::error(status, code),
            Self::Mistral => mistral::error(code),
            Self::Rekognition => rekognition::error(code),
            Self::Guardrail => guardrail::error(),
            Self::Hive | Self::HiveImages => hive::error(status, code),
            Self::Sightengine => sightengine::error(code),
            Self::OpenAi | Self::LlamaGuard | Self::Policy | Self::Judge | Self::Http => json!({
                "error": { "code": code, "message": code, "param": null, "type": "error" }
            }),
        }
    }

    /// The header with the code of an error, in formats that have one.
    pub(crate) fn error_header(self) -> Option<&'static str> {
        (self == Self::Guardrail).then_some("x-amzn-errortype")
    }
}
