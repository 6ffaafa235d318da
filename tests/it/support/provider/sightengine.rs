//! Sightengine.

use hyper::http::request::Parts;
use serde_json::{Value, json};

use super::wire::{HIGH, LOW};
use super::{FakeProvider, Picture, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "argument_error");
const MODELS: [&str; 5] = [
    "nudity-2.1",
    "gore-2.0",
    "violence",
    "self-harm",
    "offensive-2.0",
];

pub(super) fn read(parts: &Parts, body: &[u8]) -> Result<Shown, Refusal> {
    if parts.uri.path() != "/1.0/check.json" || parts.uri.query().is_some() {
        return Err(Refusal(404, "argument_error"));
    }
    let form = Form::read(parts, body).ok_or(INVALID)?;
    let text = |name: &str| {
        form.field(name)
            .and_then(|field| str::from_utf8(field).ok())
    };
    if text("api_user") != Some(FakeProvider::KEY_ID)
        || text("api_secret") != Some(FakeProvider::KEY)
    {
        return Err(Refusal(401, "argument_error"));
    }
    let models: Vec<&str> = text("models").ok_or(INVALID)?.split(',').collect();
    if !models.iter().all(|model| MODELS.contains(model)) {
        return Err(INVALID);
    }
    let media = form.field("media").ok_or(INVALID)?;
    let picture = Picture::read(media).ok_or(Refusal(400, "media_error"))?;
    Ok(Shown::picture(&json!({ "models": models }), &picture))
}

/// The parts of a `multipart/form-data`.
struct Form<'a>(Vec<(String, &'a [u8])>);

impl<'a> Form<'a> {
    fn read(parts: &Parts, body: &'a [u8]) -> Option<Self> {
        let kind = parts.headers.get("content-type")?.to_str().ok()?;
        let boundary = kind.strip_prefix("multipart/form-data; boundary=")?;
        let between = format!("\r\n--{boundary}");
        let mut rest = body.strip_prefix(&between.as_bytes()[2..])?;
        let mut fields = Vec::new();
        while let Some(part) = rest.strip_prefix(b"\r\n") {
            let end = find(part, between.as_bytes())?;
            let head_end = find(part, b"\r\n\r\n")?;
            let head = str::from_utf8(&part[..head_end]).ok()?;
            let name = head.split("; name=\"").nth(1)?.split('"').next()?;
            fields.push((name.to_owned(), part.get(head_end + 4..end)?));
            rest = &part[end + between.len()..];
        }
        rest.starts_with(b"--").then_some(Self(fields))
    }

    fn field(&self, name: &str) -> Option<&'a [u8]> {
        let field = self.0.iter().find(|(own, _)| own == name);
        field.map(|(_, value)| *value)
    }
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
}

pub(super) fn well(shown: &Shown) -> Value {
    let violence = if shown.violent[0] { HIGH } else { LOW };
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
            "gore-2.0" => answer["gore"] = json!({ "prob": LOW, "classes": {} }),
            "violence" => answer["violence"] = json!({ "prob": violence, "classes": {} }),
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

/// The limit is used up, and the status is 200.
pub(super) fn hidden() -> (u16, Value) {
    (200, error("usage_limit"))
}

pub(super) fn error(kind: &str) -> Value {
    json!({ "status": "failure", "error": { "type": kind, "code": 32, "message": kind } })
}
