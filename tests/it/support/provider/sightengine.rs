//! Sightengine.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::multipart::Form;
use super::{FakeProvider, HIGH, LOW, Picture, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "argument_error");
const MODELS: [&str; 5] = [
    "nudity-2.1",
    "gore-2.0",
    "violence",
    "self-harm",
    "offensive-2.0",
];

pub(super) fn read(parts: &Parts, body: &[u8]) -> Result<Shown, Refusal> {
    let path = parts.uri.path();
    let is_known = matches!(path, "/1.0/check.json" | "/1.0/text/check.json");
    if !is_known || parts.uri.query().is_some() {
        return Err(Refusal(404, "argument_error"));
    }
    let form = Form::read(parts, body).ok_or(INVALID)?;
    if form.text("api_user") != Some(FakeProvider::KEY_ID)
        || form.text("api_secret") != Some(FakeProvider::KEY)
    {
        return Err(Refusal(400, "credentials_error"));
    }
    let models: Vec<&str> = form.text("models").ok_or(INVALID)?.split(',').collect();
    if path == "/1.0/text/check.json" {
        return read_text(&form, &models);
    }
    if !models.iter().all(|model| MODELS.contains(model)) {
        return Err(INVALID);
    }
    let media = form.field("media").ok_or(INVALID)?;
    let picture = Picture::read(media).ok_or(Refusal(400, "media_error"))?;
    Ok(Shown::picture(&json!({ "models": models }), &picture))
}

fn read_text(form: &Form<'_>, models: &[&str]) -> Result<Shown, Refusal> {
    let text = form.text("text").ok_or(INVALID)?;
    let languages = form.text("lang").ok_or(INVALID)?;
    let is_right = form.text("mode") == Some("ml")
        && models == ["general", "self-harm"]
        && languages.split(',').all(|code| code.len() == 2);
    if !is_right {
        return Err(INVALID);
    }
    let request = json!({ "models": models, "lang": languages });
    Ok(Shown::texts(&request, vec![text.to_owned()]))
}

pub(super) fn well(shown: &Shown) -> Value {
    let violence = if shown.violent[0] { HIGH } else { LOW };
    if shown.is_text() {
        return json!({
            "status": "success",
            "request": { "id": "req_1", "timestamp": 1.5, "operations": 2 },
            "moderation_classes": {
                "available": ["sexual", "discriminatory", "insulting", "violent", "toxic", "self-harm"],
                "sexual": LOW, "discriminatory": LOW, "insulting": LOW, "violent": violence, "toxic": LOW,
                "self-harm": LOW,
            },
        });
    }
    let mut answer = json!({
        "status": "success",
        "request": { "id": "req_1", "timestamp": 1.5, "operations": 1 },
        "media": { "id": "med_1", "uri": "image.jpeg" },
    });
    for model in shown.request["models"].as_array().unwrap() {
        match model.as_str().unwrap() {
            "nudity-2.1" => {
                answer["nudity"] = json!({
                    "sexual_activity": LOW, "sexual_display": LOW, "erotica": LOW, "very_suggestive": LOW,
                    "suggestive": LOW, "mildly_suggestive": LOW, "none": 0.94, "context": {},
                });
            }
            "gore-2.0" => {
                answer["gore"] = json!({
                    "prob": 0.9,
                    "classes": {
                        "very_bloody": LOW, "slightly_bloody": LOW, "body_organ": LOW, "serious_injury": LOW,
                        "superficial_injury": LOW, "corpse": LOW, "skull": 0.9, "unconscious": LOW, "body_waste": LOW,
                        "other": LOW,
                    },
                    "type": { "animated": LOW, "fake": LOW, "real": LOW },
                });
            }
            "violence" => {
                answer["violence"] = json!({
                    "prob": 0.98,
                    "classes": {
                        "physical_violence": violence, "firearm_threat": LOW, "combat_sport": 0.98,
                    },
                });
            }
            "self-harm" => answer["self-harm"] = json!({ "prob": LOW, "type": {} }),
            _ => {
                answer["offensive"] = json!({
                    "nazi": LOW, "asian_swastika": 0.9, "confederate": LOW, "supremacist": LOW, "terrorist": LOW,
                    "middle_finger": 0.9,
                });
            }
        }
    }
    answer
}

/// A class or a model is missing.
pub(super) fn half(shown: &Shown) -> Value {
    let mut whole = well(shown);
    if shown.is_text() {
        let classes = whole["moderation_classes"].as_object_mut().unwrap();
        classes.remove("violent");
    } else {
        whole.as_object_mut().unwrap().remove("gore");
    }
    whole
}

pub(super) fn foreign(shown: &Shown) -> Value {
    if shown.is_text() {
        return json!({ "status": "success", "moderation_classes": { "available": ["gore"], "gore": LOW } });
    }
    let request = shown.request.clone();
    json!({ "status": "success", "request": request, "weapon": { "prob": LOW } })
}

/// The limit is used up, but the status is 200.
pub(super) fn hidden() -> (u16, Value) {
    (200, error("usage_limit"))
}

pub(super) fn error(kind: &str) -> Value {
    json!({ "status": "failure", "error": { "type": kind, "code": 32, "message": kind } })
}
