//! The wire formats, as their makers describe them.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::chat::{self, Asked};
use super::{
    FakeProvider, Refusal, Shown, azure, guardrail, hive, knows_key, mistral, natural_language,
    openai, own, rekognition, sightengine, vision,
};

/// What a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    /// OpenAI's moderation endpoint.
    OpenAi,
    /// Llama Guard 3 behind a chat endpoint.
    LlamaGuard,
    /// A model that judges by a policy, behind a chat endpoint.
    Policy,
    /// The same of a server that knows no schemas, has its own path and header for the key, and looks at images, too.
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

/// The score of something violent for violence, where the format has such numbers, and that of everything else.
pub(super) const HIGH: f64 = 0.97;
pub(super) const LOW: f64 = 0.01;

/// Where the score for violence of something violent stands in the text of an answer that is as documented.
pub(super) struct Place {
    /// What stands before it.
    pub(super) key: String,
    /// It.
    pub(super) high: String,
    /// What would stand there of something calm.
    pub(super) low: String,
}

impl Wire {
    /// Those that look at texts.
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
    /// Those that look at images.
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

    /// Its members in a file of providers. The policy is in a file beside it.
    pub(super) const fn members(self) -> &'static str {
        match self {
            Self::OpenAi => "kind = \"openai\"",
            Self::LlamaGuard => "kind = \"chat\"\nstyle = \"llama_guard\"\nmodel = \"guard\"",
            Self::Policy => {
                "kind = \"chat\"\nstyle = \"policy\"\nmodel = \"judge\"\npolicy_file = \"policy.txt\""
            }
            Self::Judge => {
                "kind = \"chat\"\nstyle = \"policy\"\nmodel = \"judge\"\npolicy_file = \"policy.txt\"\n\
                 path = \"/openai/chat\"\nkey_header = \"x-api-key\"\nheaders = { \"x-version\" = \"2\" }\n\
                 answer_format = \"json_object\"\nmax_completion_tokens = 500\ntemperature = false\n\
                 modalities = [\"text\", \"image\"]"
            }
            Self::Http => "kind = \"http\"\nmodalities = [\"text\", \"image\"]",
            Self::Azure => "kind = \"azure\"",
            Self::Vision => "kind = \"vision\"",
            Self::NaturalLanguage => "kind = \"natural_language\"",
            Self::Mistral => "kind = \"mistral\"",
            Self::Rekognition => {
                "kind = \"rekognition\"\nregion = \"eu-west-1\"\nkey_id = \"AKIDEXAMPLE\""
            }
            Self::Guardrail => {
                "kind = \"bedrock_guardrail\"\nregion = \"eu-west-1\"\nkey_id = \"AKIDEXAMPLE\"\n\
                 guardrail = \"gr4tests\"\nguardrail_version = \"1\"\nmodalities = [\"text\", \"image\"]"
            }
            Self::Hive => "kind = \"hive\"",
            Self::HiveImages => "kind = \"hive\"\nmodalities = [\"image\"]",
            Self::Sightengine => {
                "kind = \"sightengine\"\nkey_id = \"AKIDEXAMPLE\"\nmodalities = [\"text\", \"image\"]"
            }
        }
    }

    /// Whether a file has to say what it can score.
    pub(super) const fn scores_what_is_said(self) -> bool {
        matches!(self, Self::Policy | Self::Judge | Self::Http)
    }

    /// Its score for violence of something violent.
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

    /// What a request shows, if it is as the format says, and from somebody who is known.
    pub(super) fn read(self, parts: &Parts, body: &[u8]) -> Result<Shown, Refusal> {
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

    /// The answer that is documented.
    pub(super) fn well(self, shown: &Shown) -> Value {
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

    /// That it cannot tell; some have no way to say so.
    pub(super) fn unsure(self, shown: &Shown) -> Value {
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

    /// That it cannot tell of this category of its own; all others are as they are.
    pub(super) fn unsure_of(self, shown: &Shown, category: &str) -> Value {
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

    /// Half of it.
    pub(super) fn half(self, shown: &Shown) -> String {
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

    /// One about other categories.
    pub(super) fn foreign(self, shown: &Shown) -> Value {
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

    /// Where the score stands in the answer to something violent.
    pub(super) fn place(self, is_text: bool) -> Place {
        let place = |key: &str, high: &str, low: &str| Place {
            key: key.into(),
            high: high.into(),
            low: low.into(),
        };
        match self {
            Self::OpenAi | Self::Http => place("\"violence\":", "0.97", "0.01"),
            Self::Mistral => place("\"violence_and_threats\":", "0.97", "0.01"),
            // It stands in a text.
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

    /// A limit that its status does not tell. All but some tell it.
    pub(super) fn hidden(self) -> (u16, Value) {
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
    pub(super) fn error(self, status: u16, code: &str) -> Value {
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

    /// The header that tells the code of an error, where one does.
    pub(super) fn error_header(self) -> Option<&'static str> {
        (self == Self::Guardrail).then_some("x-amzn-errortype")
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
