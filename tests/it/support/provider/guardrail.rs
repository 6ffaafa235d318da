//! AWS Bedrock's `ApplyGuardrail`.

use hyper::http::request::Parts;
use image::ImageFormat;
use serde_json::{Value, json};

use super::{FakeProvider, Picture, Refusal, Shown, sigv4};

const INVALID: Refusal = Refusal(400, "ValidationException");
/// Characters of a text: 25 units of 1,000.
const LONGEST: usize = 25_000;
/// The filters of the guardrail.
const FILTERS: [&str; 6] = [
    "SEXUAL",
    "VIOLENCE",
    "HATE",
    "INSULTS",
    "MISCONDUCT",
    "PROMPT_ATTACK",
];

pub(super) fn read(parts: &Parts, body: &[u8], request: &Value) -> Result<Shown, Refusal> {
    let key = sigv4::Key {
        id: FakeProvider::KEY_ID,
        secret: FakeProvider::KEY,
        region: "eu-west-1",
        service: "bedrock",
        signed: &["host", "x-amz-date"],
    };
    key.check(parts, body)
        .map_err(|Refusal(_, code)| Refusal(403, code))?;
    if parts.uri.path() != "/guardrail/gr4tests/version/1/apply" {
        return Err(Refusal(404, "ResourceNotFoundException"));
    }
    let members = request.as_object().ok_or(INVALID)?;
    let is_known = |name: &String| matches!(name.as_str(), "source" | "outputScope" | "content");
    if !members.keys().all(is_known)
        || request["source"] != "INPUT"
        || request["outputScope"] != "FULL"
    {
        return Err(INVALID);
    }
    let [block] = request["content"].as_array().ok_or(INVALID)?.as_slice() else {
        return Err(INVALID);
    };
    if let Some(text) = block["text"]["text"].as_str() {
        if text.is_empty() || text.chars().count() > LONGEST {
            return Err(INVALID);
        }
        return Ok(Shown::texts(request, vec![text.to_owned()]));
    }
    let file = block["image"]["source"]["bytes"].as_str().ok_or(INVALID)?;
    let picture = Picture::of_base64(file).ok_or(INVALID)?;
    let is_right = match block["image"]["format"].as_str() {
        Some("jpeg") => picture.format == ImageFormat::Jpeg,
        Some("png") => picture.format == ImageFormat::Png,
        _ => false,
    };
    let fits = picture.sides().iter().all(|side| *side <= 8_000);
    if !is_right || !fits || picture.bytes > 4 << 20 {
        return Err(INVALID);
    }
    Ok(Shown::picture(request, &picture))
}

pub(super) fn well(shown: &Shown) -> Value {
    let is_violent = shown.violent[0];
    let filters = FILTERS.map(|kind| filter(kind, is_violent && kind == "VIOLENCE"));
    assessed(&filters, is_violent)
}

fn filter(kind: &str, is_found: bool) -> Value {
    json!({
        "type": kind,
        "confidence": if is_found { "HIGH" } else { "NONE" },
        "filterStrength": "LOW",
        "action": if is_found { "BLOCKED" } else { "NONE" },
        "detected": is_found,
    })
}

/// The answer of a guardrail without the requested filter.
pub(super) fn unsure() -> Value {
    assessed(&[filter("SEXUAL", false)], false)
}

pub(super) fn foreign() -> Value {
    assessed(&[filter("GORE", false)], false)
}

fn assessed(filters: &[Value], intervenes: bool) -> Value {
    let action = if intervenes {
        "GUARDRAIL_INTERVENED"
    } else {
        "NONE"
    };
    let usage = json!({
        "topicPolicyUnits": 0, "contentPolicyUnits": 1, "wordPolicyUnits": 0, "sensitiveInformationPolicyUnits": 0,
        "sensitiveInformationPolicyFreeUnits": 0, "contextualGroundingPolicyUnits": 0, "contentPolicyImageUnits": 0,
    });
    json!({
        "usage": usage,
        "action": action,
        "outputs": if intervenes { json!([{ "text": "Blocked." }]) } else { json!([]) },
        "assessments": [{
            "contentPolicy": { "filters": filters },
            "invocationMetrics": { "guardrailProcessingLatency": 100, "usage": usage },
        }],
        "guardrailCoverage": { "textCharacters": { "guarded": 17, "total": 17 } },
    })
}

/// The code is in the header `x-amzn-errortype`.
pub(super) fn error() -> Value {
    json!({ "message": "told in the header" })
}
