//! Mistral's moderation endpoint, as `mistral-moderation-2603` answers.

use serde_json::{Value, json};

use super::{HIGH, LOW, Refusal, Shown};

const INVALID: Refusal = Refusal(422, "invalid_request_error");

/// `input` is one text or a list of texts.
pub(super) fn read(request: &Value) -> Result<Shown, Refusal> {
    let model = request["model"].as_str().ok_or(INVALID)?;
    if !model.starts_with("mistral-moderation-") {
        return Err(Refusal(400, "invalid_model"));
    }
    let texts = match &request["input"] {
        Value::String(text) => vec![text.clone()],
        Value::Array(texts) => texts
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .ok_or(INVALID)?,
        _ => return Err(INVALID),
    };
    Ok(Shown::texts(request, texts))
}

pub(super) fn well(shown: &Shown) -> Value {
    let results = shown.violent.iter().map(|violent| {
        let violence = if *violent { HIGH } else { LOW };
        let scores = json!({
            "sexual": LOW, "hate_and_discrimination": LOW, "violence_and_threats": violence, "dangerous": LOW,
            "criminal": LOW, "selfharm": LOW, "health": LOW, "financial": LOW, "law": LOW, "pii": LOW,
            "jailbreaking": LOW,
        });
        let flags = scores.as_object().unwrap().iter();
        let flags: serde_json::Map<String, Value> = flags
            .map(|(name, score)| (name.clone(), json!(score.as_f64() > Some(0.5))))
            .collect();
        json!({ "categories": flags, "category_scores": scores })
    });
    moderation(&results.collect::<Vec<_>>())
}

pub(super) fn moderation(results: &[Value]) -> Value {
    json!({ "id": "mod-1", "model": "mistral-moderation-2603", "results": results })
}

pub(super) fn error(code: &str) -> Value {
    json!({ "object": "error", "message": code, "type": code, "param": null, "code": "1500" })
}
