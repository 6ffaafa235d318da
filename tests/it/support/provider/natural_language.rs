//! Google Cloud Natural Language's text moderation.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::vision::knows_google_key;
use super::{HIGH, LOW, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "INVALID_ARGUMENT");
/// Bytes of a document.
const LONGEST: usize = 1_000_000;
/// All its categories but `Violent`.
const OTHERS: [&str; 15] = [
    "Toxic",
    "Insult",
    "Profanity",
    "Derogatory",
    "Sexual",
    "Death, Harm & Tragedy",
    "Firearms & Weapons",
    "Public Safety",
    "Health",
    "Religion & Belief",
    "Illicit Drugs",
    "War & Conflict",
    "Politics",
    "Finance",
    "Legal",
];

pub(super) fn read(parts: &Parts, request: &Value) -> Result<Shown, Refusal> {
    knows_google_key(parts)?;
    if parts.uri.path() != "/v2/documents:moderateText" {
        return Err(Refusal(404, "NOT_FOUND"));
    }
    let members = request.as_object().ok_or(INVALID)?;
    if members
        .keys()
        .any(|name| name != "document" && name != "modelVersion")
    {
        return Err(INVALID);
    }
    let document = &request["document"];
    let text = document["content"].as_str().ok_or(INVALID)?;
    let is_plain = matches!(document["type"].as_str(), Some("PLAIN_TEXT"));
    if !is_plain || text.is_empty() || text.len() > LONGEST {
        return Err(INVALID);
    }
    Ok(Shown::texts(request, vec![text.to_owned()]))
}

pub(super) fn well(shown: &Shown) -> Value {
    let violence = if shown.violent[0] { HIGH } else { LOW };
    let mut categories: Vec<Value> = OTHERS
        .iter()
        .map(|name| json!({ "name": name, "confidence": LOW }))
        .collect();
    // proto3 leaves 0 out of JSON.
    categories[4] = json!({ "name": "Sexual" });
    categories.insert(4, json!({ "name": "Violent", "confidence": violence }));
    moderated(&categories)
}

pub(super) fn moderated(categories: &[Value]) -> Value {
    json!({ "moderationCategories": categories, "languageCode": "en", "languageSupported": true })
}

/// It does not know the language, but answers. proto3 leaves `false` out of JSON.
pub(super) fn unsure(shown: &Shown) -> Value {
    let mut answer = well(shown);
    answer["languageCode"] = "tlh".into();
    answer.as_object_mut().unwrap().remove("languageSupported");
    answer
}
