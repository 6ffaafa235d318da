//! Hive's moderation: a project for texts, and one for images.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::multipart::Form;
use super::{FakeProvider, HIGH, LOW, Picture, Refusal, Shown, knows_key};

const INVALID: Refusal = Refusal(400, "invalid");
/// Characters of a text.
const LONGEST: usize = 1_024;
/// The classes of a text but `violence`.
const TEXT_CLASSES: [&str; 18] = [
    "spam",
    "sexual",
    "sexual_description",
    "hate",
    "violent_description",
    "bullying",
    "child_exploitation",
    "child_safety",
    "self_harm",
    "self_harm_intent",
    "drugs",
    "weapons",
    "promotions",
    "redirection",
    "gibberish",
    "phone_number",
    "minor_implicitly_mentioned",
    "minor_explicitly_mentioned",
];
/// The questions about an image, each with the class that says yes and what says no.
const HEADS: [(&[&str], &str); 8] = [
    (
        &["general_nsfw", "general_suggestive"],
        "general_not_nsfw_not_suggestive",
    ),
    (&["yes_sexual_activity"], "no_sexual_activity"),
    (&["human_corpse", "animated_corpse"], "no_corpse"),
    (&["yes_fight"], "no_fight"),
    (&["yes_nazi"], "no_nazi"),
    (&["yes_kkk"], "no_kkk"),
    (&["yes_terrorist"], "no_terrorist"),
    (&["yes_self_harm"], "no_self_harm"),
];

pub(super) fn read(
    parts: &Parts,
    body: &[u8],
    request: &Value,
    is_text: bool,
) -> Result<Shown, Refusal> {
    let key = format!("token {}", FakeProvider::KEY);
    knows_key(parts, "authorization", &key).map_err(|_| Refusal(403, "forbidden"))?;
    if parts.uri.path() != "/api/v2/task/sync" {
        return Err(Refusal(404, "not_found"));
    }
    if is_text {
        let text = request["text_data"].as_str().ok_or(INVALID)?;
        if text.chars().count() > LONGEST {
            return Err(INVALID);
        }
        return Ok(Shown::texts(request, vec![text.to_owned()]));
    }
    let form = Form::read(parts, body).ok_or(INVALID)?;
    let media = form.field("media").ok_or(INVALID)?;
    let picture = Picture::read(media).ok_or(INVALID)?;
    Ok(Shown::picture(&json!({}), &picture))
}

pub(super) fn well(shown: &Shown) -> Value {
    task(&[classes(shown)])
}

fn classes(shown: &Shown) -> Vec<Value> {
    let is_violent = shown.violent[0];
    let class = |class: &str, score: Value| json!({ "class": class, "score": score });
    if shown.is_text() {
        let worst = if is_violent { 3 } else { 0 };
        let others = TEXT_CLASSES.iter().map(|name| class(name, json!(0)));
        return others.chain([class("violence", json!(worst))]).collect();
    }
    let mut classes: Vec<Value> = HEADS
        .iter()
        .flat_map(|(yes, no)| {
            let yes = yes.iter().map(|name| class(name, json!(LOW)));
            yes.chain([class(no, json!(0.98))])
        })
        .collect();
    let blood = if is_violent { HIGH } else { LOW };
    for (name, score) in [
        ("very_bloody", blood),
        ("a_little_bloody", 0.0),
        ("other_blood", 0.0),
        ("no_blood", 1.0 - blood),
        ("hanging", 0.0),
        ("noose", LOW),
        ("no_hanging_no_noose", 0.99),
    ] {
        classes.push(class(name, json!(score)));
    }
    classes
}

/// The classes of each part of a text, or of the image.
pub(super) fn task(moments: &[Vec<Value>]) -> Value {
    let output: Vec<Value> = moments
        .iter()
        .map(|classes| json!({ "time": 0, "start_char_index": 0, "end_char_index": 17, "classes": classes }))
        .collect();
    json!({
        "id": "43a5eef0-1539-11ec-8d1d-d38403f66b6d",
        "code": 200,
        "project_id": 1,
        "user_id": 1,
        "created_on": "2026-01-31T12:00:00.000Z",
        "status": [{
            "status": { "code": "0", "message": "SUCCESS" },
            "response": { "input": { "model": "m", "model_version": 1 }, "custom_classes": [], "output": output },
        }],
        "from_cache": false,
    })
}

/// A text in two languages. It knows only one of them.
pub(super) fn unsure(shown: &Shown) -> Value {
    if !shown.is_text() {
        return well(shown);
    }
    let known = classes(shown);
    let unknown = known
        .iter()
        .map(|class| json!({ "class": class["class"], "score": -1 }));
    task(&[unknown.collect(), known.clone()])
}

pub(super) fn error(status: u16, code: &str) -> Value {
    json!({ "return_code": status, "message": code })
}
