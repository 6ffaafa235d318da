//! Azure AI Content Safety.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::{FakeProvider, Picture, Refusal, Shown, knows_key};

const INVALID: Refusal = Refusal(400, "InvalidRequestBody");
const TEXT: &str = "/contentsafety/text:analyze";
const IMAGE: &str = "/contentsafety/image:analyze";
const HARMS: [&str; 4] = ["Hate", "SelfHarm", "Sexual", "Violence"];

pub(super) fn read(parts: &Parts, request: &Value) -> Result<Shown, Refusal> {
    knows_key(parts, "ocp-apim-subscription-key", FakeProvider::KEY)?;
    if parts.uri.query() != Some("api-version=2024-09-01") {
        return Err(Refusal(404, "NotFound"));
    }
    let harms = request["categories"].as_array().ok_or(INVALID)?;
    let known = |harm: &Value| harm.as_str().is_some_and(|harm| HARMS.contains(&harm));
    if harms.is_empty() || !harms.iter().all(known) {
        return Err(INVALID);
    }
    match (parts.uri.path(), request["outputType"].as_str()) {
        (TEXT, Some("EightSeverityLevels")) => {
            let text = request["text"].as_str().ok_or(INVALID)?;
            if text.chars().count() > 10_000 {
                return Err(INVALID);
            }
            Ok(Shown::texts(request, vec![text.to_owned()]))
        }
        (IMAGE, Some("FourSeverityLevels")) => {
            let file = request["image"]["content"].as_str().ok_or(INVALID)?;
            let picture = Picture::of_base64(file).ok_or(Refusal(400, "InvalidImageFormat"))?;
            let fits = picture
                .sides()
                .iter()
                .all(|side| (50..=2_048).contains(side));
            if !fits || picture.bytes > 4 << 20 {
                return Err(Refusal(400, "InvalidImageSize"));
            }
            Ok(Shown::picture(request, &picture))
        }
        (TEXT | IMAGE, _) => Err(INVALID),
        _ => Err(Refusal(404, "NotFound")),
    }
}

pub(super) fn well(shown: &Shown) -> Value {
    let worst = if shown.is_text() { 7 } else { 6 };
    let severity = |harm: &Value| {
        if harm == "Violence" && shown.violent[0] {
            worst
        } else {
            0
        }
    };
    let harms = shown.request["categories"].as_array().unwrap().iter();
    let findings: Vec<Value> = harms
        .map(|harm| json!({ "category": harm, "severity": severity(harm) }))
        .collect();
    analysis(&findings)
}

pub(super) fn analysis(findings: &[Value]) -> Value {
    json!({ "blocklistsMatch": [], "categoriesAnalysis": findings })
}

pub(super) fn error(code: &str) -> Value {
    json!({ "error": { "code": code, "message": code, "details": [] } })
}
