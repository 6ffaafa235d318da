//! OpenAI's moderation endpoint.

use serde_json::{Value, json};

use super::{
    Picture, Refusal, Shown,
    wire::{HIGH, LOW},
};

const INVALID: Refusal = Refusal(400, "invalid_request_error");

/// `input` is a text, texts, or parts, of which one may be an image.
pub(super) fn read(request: &Value) -> Result<Shown, Refusal> {
    request["model"].as_str().ok_or(INVALID)?;
    let input = request["input"].as_array().ok_or(INVALID)?;
    let images = input.iter().filter(|part| part["type"] == "image_url");
    match images.count() {
        0 => {
            let texts = input.iter().map(|text| text.as_str().map(str::to_owned));
            let texts = texts.collect::<Option<_>>().ok_or(INVALID)?;
            Ok(Shown::texts(request, texts))
        }
        1 if input.len() == 1 => {
            let url = input[0]["image_url"]["url"].as_str().ok_or(INVALID)?;
            let (kind, file) = url.split_once(";base64,").ok_or(INVALID)?;
            let picture = Picture::of_base64(file).ok_or(INVALID)?;
            if kind != format!("data:{}", picture.format.to_mime_type()) {
                return Err(INVALID);
            }
            if picture.bytes > 20_000_000 {
                return Err(Refusal(400, "image_too_large"));
            }
            Ok(Shown::picture(request, &picture))
        }
        _ => Err(Refusal(400, "too_many_images")),
    }
}

pub(super) fn well(shown: &Shown) -> Value {
    let scores = shown.violent.iter().map(|violent| {
        let violence = if *violent { HIGH } else { LOW };
        if shown.is_text() {
            text(violence)
        } else {
            image(violence)
        }
    });
    moderation(&scores.collect::<Vec<_>>())
}

pub(super) fn moderation(results: &[Value]) -> Value {
    json!({ "id": "modr-1", "model": "omni-moderation-latest", "results": results })
}

fn text(violence: f64) -> Value {
    let scores = json!({
        "harassment": LOW, "harassment/threatening": LOW, "hate": LOW, "hate/threatening": LOW,
        "illicit": null, "illicit/violent": null, "self-harm": LOW, "self-harm/intent": LOW,
        "self-harm/instructions": LOW, "sexual": LOW, "sexual/minors": LOW,
        "violence": violence, "violence/graphic": LOW,
    });
    judged(violence, &scores, |_| true, "text")
}

/// Of an image most are not looked for, and are 0.
fn image(violence: f64) -> Value {
    let scores = json!({
        "harassment": 0, "harassment/threatening": 0, "hate": 0, "hate/threatening": 0,
        "illicit": 0, "illicit/violent": 0, "self-harm": LOW, "self-harm/intent": LOW,
        "self-harm/instructions": LOW, "sexual": LOW, "sexual/minors": 0,
        "violence": violence, "violence/graphic": LOW,
    });
    judged(violence, &scores, |score| score != 0, "image")
}

fn judged(violence: f64, scores: &Value, looked: impl Fn(&Value) -> bool, kind: &str) -> Value {
    let entries = scores.as_object().unwrap().iter();
    let types: serde_json::Map<String, Value> = entries
        .map(|(name, score)| {
            let types = if looked(score) {
                json!([kind])
            } else {
                json!([])
            };
            (name.clone(), types)
        })
        .collect();
    json!({
        "flagged": violence > 0.5,
        "categories": {},
        "category_scores": scores,
        "category_applied_input_types": types,
    })
}
