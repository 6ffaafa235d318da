//! Reads a request strictly, as each format's documentation describes it.

use hyper::http::request::Parts;
use serde_json::Value;

use super::Wire;
use crate::support::provider::chat::{self, Asked};
use crate::support::provider::{
    FakeProvider, Refusal, Shown, azure, guardrail, hive, knows_key, mistral, natural_language,
    openai, own, rekognition, sightengine, vision,
};

impl Wire {
    /// The content of a request, if it has the documented format and the right key.
    pub(crate) fn read(self, parts: &Parts, body: &[u8]) -> Result<Shown, Refusal> {
        if parts.method != "POST" {
            return Err(Refusal(405, "method_not_allowed"));
        }
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let asked = |asked| move |request: &Value| chat::read(request, asked);
        match self {
            Self::OpenAi => bearer(parts, "/v1/moderations", &request, openai::read),
            Self::Mistral => bearer(parts, "/v1/moderations", &request, mistral::read),
            Self::LlamaGuard => bearer(
                parts,
                "/v1/chat/completions",
                &request,
                asked(Asked::LlamaGuard),
            ),
            Self::Policy => bearer(
                parts,
                "/v1/chat/completions",
                &request,
                asked(Asked::Schema),
            ),
            Self::Judge => {
                knows_key(parts, "x-api-key", FakeProvider::KEY)?;
                let has_version = parts.headers.get("x-version").is_some_and(|it| it == "2");
                if parts.uri.path() != "/openai/chat" || !has_version {
                    return Err(Refusal(404, "unknown_url"));
                }
                chat::read(&request, Asked::Object)
            }
            Self::Http => bearer(parts, "/", &request, own::read),
            Self::Azure => azure::read(parts, &request),
            Self::Vision => vision::read(parts, body, &request),
            Self::NaturalLanguage => natural_language::read(parts, &request),
            Self::Rekognition => rekognition::read(parts, body, &request),
            Self::Guardrail => guardrail::read(parts, body, &request),
            Self::Hive => hive::read(parts, body, &request, true),
            Self::HiveImages => hive::read(parts, body, &request, false),
            Self::Sightengine => sightengine::read(parts, body),
        }
    }
}

fn bearer(
    parts: &Parts,
    path: &str,
    request: &Value,
    read: impl Fn(&Value) -> Result<Shown, Refusal>,
) -> Result<Shown, Refusal> {
    let key = format!("Bearer {}", FakeProvider::KEY);
    knows_key(parts, "authorization", &key)?;
    if parts.uri.path() != path {
        return Err(Refusal(404, "unknown_url"));
    }
    read(request)
}
