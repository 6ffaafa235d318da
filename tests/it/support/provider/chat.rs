//! Models behind a chat endpoint.

use serde_json::{Value, json};

use super::own::scores;
use super::{HIGH, LOW, Picture, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "invalid_request_error");

/// The form of a question to a model.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// In the words of Llama Guard's template, with probabilities.
    LlamaGuard,
    /// By a policy, with a schema.
    Schema,
    /// By a policy, for any JSON object. It may show an image.
    Object,
}

pub(super) fn read(request: &Value, asked: Asked) -> Result<Shown, Refusal> {
    request["model"].as_str().ok_or(INVALID)?;
    let format = request["response_format"]["type"].as_str();
    let is_right = match asked {
        Asked::LlamaGuard => request["logprobs"] == true && format.is_none(),
        Asked::Schema => format == Some("json_schema"),
        // A server of this kind refuses unknown members.
        Asked::Object => {
            format == Some("json_object")
                && request["max_tokens"].is_null()
                && request["max_completion_tokens"].is_u64()
                && request["temperature"].is_null()
        }
    };
    let messages = request["messages"].as_array().ok_or(INVALID)?;
    let last = messages.last().ok_or(INVALID)?;
    if !is_right || last["role"] != "user" {
        return Err(INVALID);
    }
    if let Some(text) = last["content"].as_str() {
        return Ok(Shown::texts(request, vec![text.to_owned()]));
    }
    let [part] = last["content"].as_array().ok_or(INVALID)?.as_slice() else {
        return Err(INVALID);
    };
    let url = part["image_url"]["url"].as_str().ok_or(INVALID)?;
    let (kind, file) = url.split_once(";base64,").ok_or(INVALID)?;
    let picture = Picture::of_base64(file).ok_or(INVALID)?;
    let is_told = kind == format!("data:{}", picture.format.to_mime_type());
    // 5 MB of base64.
    if asked != Asked::Object || part["type"] != "image_url" || !is_told || file.len() > 5_000_000 {
        return Err(INVALID);
    }
    Ok(Shown::picture(request, &picture))
}

pub(super) fn well(shown: &Shown, asked: Asked) -> Value {
    match asked {
        Asked::LlamaGuard => guarded(shown),
        Asked::Schema => {
            let schema = &shown.request["response_format"]["json_schema"]["schema"];
            let scores = scores(shown, &schema["required"]);
            completion(&scores.to_string(), "stop")
        }
        // Without a schema, models add words around the JSON.
        Asked::Object => {
            let scores = scores(shown, &named(&shown.request));
            completion(&format!("Here you are:\n```json\n{scores}\n```"), "stop")
        }
    }
}

/// The categories that the instructions name.
fn named(request: &Value) -> Value {
    let told = request["messages"][0]["content"]
        .as_str()
        .unwrap_or_default();
    let names = told
        .split("these members and no others: ")
        .nth(1)
        .and_then(|rest| rest.split('.').next());
    names.unwrap_or_default().split(", ").collect()
}

fn guarded(shown: &Shown) -> Value {
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

pub(super) fn completion(content: &str, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": content, "refusal": null },
            "finish_reason": finish_reason,
            "logprobs": null,
        }],
        "usage": { "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 },
    })
}
