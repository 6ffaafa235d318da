//! Our own schema.

use serde_json::{Map, Value, json};

use super::{HIGH, LOW, Picture, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "invalid_request_error");

/// A text or an image, and the categories. No other members.
pub(super) fn read(request: &Value) -> Result<Shown, Refusal> {
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

pub(super) fn well(shown: &Shown) -> Value {
    json!({ "scores": scores(shown, &shown.request["categories"]) })
}

/// It cannot score any category.
pub(super) fn unsure(shown: &Shown) -> Value {
    let names = shown.request["categories"].as_array().unwrap().iter();
    let scores: Map<String, Value> = names
        .map(|name| (name.as_str().unwrap().to_owned(), Value::Null))
        .collect();
    json!({ "scores": scores })
}

/// A score for each of these names.
pub(super) fn scores(shown: &Shown, names: &Value) -> Value {
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
