//! The wire formats, as their makers describe them.

use hyper::http::request::Parts;
use serde_json::{Map, Value, json};

use super::{
    FakeProvider, Picture, Refusal, Shown, azure, knows_key, openai, rekognition, sightengine,
    vision,
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
    /// Our own schema.
    Http,
    /// Azure AI Content Safety.
    Azure,
    /// Google Cloud Vision's `SafeSearch`.
    Vision,
    /// AWS Rekognition.
    Rekognition,
    /// Sightengine.
    Sightengine,
}

/// The score of something violent for violence, where the format has such numbers, and that of everything else.
pub(super) const HIGH: f64 = 0.97;
pub(super) const LOW: f64 = 0.01;

const INVALID: Refusal = Refusal(400, "invalid_request_error");

impl Wire {
    /// Those that look at texts.
    pub(crate) const OF_TEXTS: [Self; 5] = [
        Self::OpenAi,
        Self::LlamaGuard,
        Self::Policy,
        Self::Http,
        Self::Azure,
    ];
    /// Those that look at images.
    pub(crate) const OF_IMAGES: [Self; 6] = [
        Self::OpenAi,
        Self::Http,
        Self::Azure,
        Self::Vision,
        Self::Rekognition,
        Self::Sightengine,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::LlamaGuard => "guard",
            Self::Policy => "policy",
            Self::Http => "http",
            Self::Azure => "azure",
            Self::Vision => "vision",
            Self::Rekognition => "rekognition",
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
            Self::Http => "kind = \"http\"\nmodalities = [\"text\", \"image\"]",
            Self::Azure => "kind = \"azure\"",
            Self::Vision => "kind = \"vision\"",
            Self::Rekognition => {
                "kind = \"rekognition\"\nregion = \"eu-west-1\"\nkey_id = \"AKIDEXAMPLE\""
            }
            Self::Sightengine => "kind = \"sightengine\"\nkey_id = \"AKIDEXAMPLE\"",
        }
    }

    /// Whether a file has to say what it can score.
    pub(super) const fn scores_what_is_said(self) -> bool {
        matches!(self, Self::Policy | Self::Http)
    }

    /// Its score for violence of something violent.
    pub(crate) const fn high(self) -> f64 {
        match self {
            Self::Azure | Self::Vision => 1.0,
            Self::OpenAi
            | Self::LlamaGuard
            | Self::Policy
            | Self::Http
            | Self::Rekognition
            | Self::Sightengine => HIGH,
        }
    }

    /// What a request shows, if it is as the format says, and from somebody who is known.
    pub(super) fn read(self, parts: &Parts, body: &[u8]) -> Result<Shown, Refusal> {
        if parts.method != "POST" {
            return Err(Refusal(405, "method_not_allowed"));
        }
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let path = match self {
            Self::OpenAi => "/v1/moderations",
            Self::LlamaGuard | Self::Policy => "/v1/chat/completions",
            Self::Http => "/",
            Self::Azure => return azure::read(parts, &request),
            Self::Vision => return vision::read(parts, body, &request),
            Self::Rekognition => return rekognition::read(parts, body, &request),
            Self::Sightengine => return sightengine::read(parts, body),
        };
        let bearer = format!("Bearer {}", FakeProvider::KEY);
        knows_key(parts, "authorization", &bearer)?;
        if parts.uri.path() != path {
            return Err(Refusal(404, "unknown_url"));
        }
        match self {
            Self::OpenAi => openai::read(&request),
            Self::Http => read_own(&request),
            _ => read_chat(&request),
        }
    }

    /// The answer that is documented.
    pub(super) fn well(self, shown: &Shown) -> Value {
        let request = &shown.request;
        match self {
            Self::OpenAi => openai::well(shown),
            Self::LlamaGuard => {
                let (content, first, probability) = if shown.violent[0] {
                    ("\n\nunsafe\nS1", "unsafe", HIGH)
                } else {
                    ("\n\nsafe", "safe", 1.0 - LOW)
                };
                let mut answer = completion(content, "stop");
                answer["choices"][0]["logprobs"] = json!({ "content": [
                    { "token": "\n\n", "logprob": 0.0, "bytes": null, "top_logprobs": [] },
                    { "token": first, "logprob": probability.ln(), "bytes": null, "top_logprobs": [] },
                ] });
                answer
            }
            Self::Policy => {
                let schema = &request["response_format"]["json_schema"]["schema"];
                let scores = scores(shown, &schema["required"]);
                completion(&scores.to_string(), "stop")
            }
            Self::Http => json!({ "scores": scores(shown, &request["categories"]) }),
            Self::Azure => azure::well(shown),
            Self::Vision => vision::well(shown),
            Self::Rekognition => rekognition::well(shown),
            Self::Sightengine => sightengine::well(shown),
        }
    }

    /// That it cannot tell; none of the others can say so.
    pub(super) fn unsure(self, shown: &Shown) -> Value {
        match self {
            Self::Vision => vision::annotated(&json!({ "safeSearchAnnotation": {
                "adult": "UNKNOWN", "violence": "UNKNOWN", "racy": "UNKNOWN",
            } })),
            Self::Http => json!({ "scores": { "violence": null } }),
            _ => self.well(shown),
        }
    }

    /// Half of it.
    pub(super) fn half(self, shown: &Shown) -> String {
        match self {
            Self::OpenAi => openai::moderation(&[]).to_string(),
            Self::LlamaGuard => completion("\n\nunsafe", "length").to_string(),
            Self::Policy => completion("{\"violence\": 0.0", "length").to_string(),
            Self::Azure => azure::analysis(&[]).to_string(),
            Self::Vision => json!({ "responses": [] }).to_string(),
            Self::Http | Self::Rekognition => {
                let whole = self.well(shown).to_string();
                whole[..whole.len() / 2].to_owned()
            }
            Self::Sightengine => {
                let mut whole = self.well(shown);
                whole.as_object_mut().unwrap().remove("gore");
                whole.to_string()
            }
        }
    }

    /// One about other categories.
    pub(super) fn foreign(self, shown: &Shown) -> Value {
        match self {
            Self::OpenAi => openai::moderation(&[json!({ "category_scores": { "gore": LOW } })]),
            Self::LlamaGuard => completion("unsafe\nS99", "stop"),
            Self::Policy => completion("{\"gore\": 0.01}", "stop"),
            Self::Http => json!({ "scores": { "gore": LOW } }),
            Self::Azure => azure::analysis(&[json!({ "category": "Gore", "severity": 0 })]),
            Self::Vision => vision::annotated(&json!({ "labelAnnotations": [] })),
            Self::Rekognition => rekognition::labelled(&[], "6.1"),
            Self::Sightengine => {
                let request = shown.request.clone();
                json!({ "status": "success", "request": request, "weapon": { "prob": LOW } })
            }
        }
    }

    /// A limit that its status does not tell. All but some tell it.
    pub(super) fn hidden(self) -> (u16, Value) {
        match self {
            Self::Vision => vision::hidden(),
            Self::Rekognition => rekognition::hidden(),
            Self::Sightengine => sightengine::hidden(),
            Self::OpenAi | Self::LlamaGuard | Self::Policy | Self::Http | Self::Azure => {
                (429, self.error("rate_limit_exceeded"))
            }
        }
    }

    /// The body of an error.
    pub(super) fn error(self, code: &str) -> Value {
        match self {
            Self::Azure => azure::error(code),
            Self::Vision => vision::error(code),
            Self::Rekognition => rekognition::error(code),
            Self::Sightengine => sightengine::error(code),
            Self::OpenAi | Self::LlamaGuard | Self::Policy | Self::Http => json!({
                "error": { "code": code, "message": code, "param": null, "type": "error" }
            }),
        }
    }
}

fn read_chat(request: &Value) -> Result<Shown, Refusal> {
    request["model"].as_str().ok_or(INVALID)?;
    let messages = request["messages"].as_array().ok_or(INVALID)?;
    let last = messages.last().ok_or(INVALID)?;
    let text = last["content"].as_str().ok_or(INVALID)?;
    if last["role"] != "user" {
        return Err(INVALID);
    }
    Ok(Shown::texts(request, vec![text.to_owned()]))
}

/// A text or an image, and nothing besides but the categories.
fn read_own(request: &Value) -> Result<Shown, Refusal> {
    let members = request.as_object().ok_or(INVALID)?;
    request["categories"].as_array().ok_or(INVALID)?;
    if members.len() != 2 {
        return Err(INVALID);
    }
    if let Some(text) = request["text"].as_str() {
        return Ok(Shown::texts(request, vec![text.to_owned()]));
    }
    let file = request["image"]["content_base64"].as_str().ok_or(INVALID)?;
    let picture = Picture::of_base64(file).ok_or(INVALID)?;
    if request["image"]["format"] != "jpeg" || picture.format != image::ImageFormat::Jpeg {
        return Err(INVALID);
    }
    Ok(Shown::picture(request, &picture))
}

/// A score for each of these names.
fn scores(shown: &Shown, names: &Value) -> Value {
    let score = |name: &Value| {
        if name == "violence" && shown.violent[0] {
            HIGH
        } else {
            LOW
        }
    };
    let names = names.as_array().unwrap().iter();
    let scores: Map<String, Value> = names
        .map(|name| (name.as_str().unwrap().to_owned(), json!(score(name))))
        .collect();
    Value::Object(scores)
}

fn completion(content: &str, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": content },
            "finish_reason": finish_reason,
            "logprobs": null,
        }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    })
}
