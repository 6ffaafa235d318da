//! The wire formats, as their makers describe them.

use serde_json::{Map, Value, json};

use super::FakeProvider;

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
}

/// The score of a violent text for violence, and that of everything else.
const HIGH: f64 = 0.97;
const LOW: f64 = 0.01;

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::OpenAi, Self::LlamaGuard, Self::Policy, Self::Http];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::LlamaGuard => "guard",
            Self::Policy => "policy",
            Self::Http => "http",
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
            Self::Http => "kind = \"http\"",
        }
    }

    /// Whether a file has to say what it can score.
    pub(super) const fn scores_what_is_said(self) -> bool {
        match self {
            Self::OpenAi | Self::LlamaGuard => false,
            Self::Policy | Self::Http => true,
        }
    }

    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "/v1/moderations",
            Self::LlamaGuard | Self::Policy => "/v1/chat/completions",
            Self::Http => "/",
        }
    }

    /// The texts of a request; none if it is not what the format says.
    pub(super) fn texts(self, request: &Value) -> Option<Vec<String>> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match self {
            Self::OpenAi => {
                request["model"].as_str()?;
                request["input"].as_array()?.iter().map(text).collect()
            }
            Self::LlamaGuard | Self::Policy => {
                request["model"].as_str()?;
                let last = request["messages"].as_array()?.last()?;
                (last["role"] == "user").then_some(())?;
                Some(vec![text(&last["content"])?])
            }
            Self::Http => {
                request["categories"].as_array()?;
                Some(vec![text(&request["text"])?])
            }
        }
    }

    /// The answer that is documented.
    pub(super) fn well(self, request: &Value, texts: &[String]) -> Value {
        let violence = |text: &String| {
            if text.contains(FakeProvider::VIOLENT) {
                HIGH
            } else {
                LOW
            }
        };
        let scores = |names: &Value| -> Map<String, Value> {
            let names = names.as_array().unwrap().iter();
            let score = |name: &Value| {
                if name == "violence" {
                    violence(&texts[0])
                } else {
                    LOW
                }
            };
            names
                .map(|name| (name.as_str().unwrap().to_owned(), json!(score(name))))
                .collect()
        };
        match self {
            Self::OpenAi => {
                let results: Vec<Value> = texts.iter().map(|text| judged(violence(text))).collect();
                moderation(&results)
            }
            Self::LlamaGuard => {
                let found = violence(&texts[0]) > 0.5;
                let (content, first, probability) = if found {
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
                let scores = Value::Object(scores(&schema["required"]));
                completion(&scores.to_string(), "stop")
            }
            Self::Http => json!({ "scores": scores(&request["categories"]) }),
        }
    }

    /// Half of it.
    pub(super) fn half(self, request: &Value, texts: &[String]) -> String {
        match self {
            Self::OpenAi => moderation(&[]).to_string(),
            Self::LlamaGuard => completion("\n\nunsafe", "length").to_string(),
            Self::Policy => completion("{\"violence\": 0.0", "length").to_string(),
            Self::Http => {
                let whole = self.well(request, texts).to_string();
                whole[..whole.len() / 2].to_owned()
            }
        }
    }

    /// One about other categories.
    pub(super) fn foreign(self) -> Value {
        match self {
            Self::OpenAi => moderation(&[json!({ "category_scores": { "gore": LOW } })]),
            Self::LlamaGuard => completion("unsafe\nS99", "stop"),
            Self::Policy => completion("{\"gore\": 0.01}", "stop"),
            Self::Http => json!({ "scores": { "gore": LOW } }),
        }
    }
}

fn moderation(results: &[Value]) -> Value {
    json!({ "id": "modr-1", "model": "omni-moderation-latest", "results": results })
}

fn judged(violence: f64) -> Value {
    let scores = json!({
        "harassment": LOW, "harassment/threatening": LOW, "hate": LOW, "hate/threatening": LOW,
        "illicit": null, "illicit/violent": null, "self-harm": LOW, "self-harm/intent": LOW,
        "self-harm/instructions": LOW, "sexual": LOW, "sexual/minors": LOW,
        "violence": violence, "violence/graphic": LOW,
    });
    json!({ "flagged": violence > 0.5, "categories": {}, "category_scores": scores })
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
