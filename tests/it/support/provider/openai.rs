//! OpenAI's moderation endpoint.

use serde_json::{Map, Value, json};

use super::{HIGH, LOW, Picture, Refusal, Shown};

const INVALID: Refusal = Refusal(400, "invalid_request_error");

/// `input` is a text, a list of texts, or a list of parts. One part may be an image.
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
    let results = shown.violent.iter().map(|violent| {
        let violence = if *violent { HIGH } else { LOW };
        judged(shown.is_text(), violence)
    });
    moderation(&results.collect::<Vec<_>>())
}

pub(super) fn moderation(results: &[Value]) -> Value {
    json!({ "id": "modr-1", "model": "omni-moderation-latest", "results": results })
}

/// Its categories, and whether it scores images for them.
const CATEGORIES: [(&str, bool); 13] = [
    ("harassment", false),
    ("harassment/threatening", false),
    ("sexual", true),
    ("hate", false),
    ("hate/threatening", false),
    ("illicit", false),
    ("illicit/violent", false),
    ("self-harm/intent", true),
    ("self-harm/instructions", true),
    ("self-harm", true),
    ("sexual/minors", false),
    ("violence", true),
    ("violence/graphic", true),
];

/// It does not score images for most categories. Their score is 0.
fn judged(is_text: bool, violence: f64) -> Value {
    let (mut flags, mut scores, mut types) = (Map::new(), Map::new(), Map::new());
    for (name, is_seen) in CATEGORIES {
        let score = match name {
            "violence" => violence,
            _ if is_text || is_seen => LOW,
            _ => 0.0,
        };
        let looked = match (is_text, is_seen) {
            (true, _) => json!(["text"]),
            (false, true) => json!(["image"]),
            (false, false) => json!([]),
        };
        flags.insert(name.to_owned(), json!(score > 0.5));
        scores.insert(name.to_owned(), json!(score));
        types.insert(name.to_owned(), looked);
    }
    json!({
        "flagged": violence > 0.5,
        "categories": flags,
        "category_scores": scores,
        "category_applied_input_types": types,
    })
}

/// It did not score a text for `illicit`, like older models, and an image neither for violence nor
/// for sexual content.
pub(super) fn unsure(shown: &Shown) -> Value {
    let mut answer = well(shown);
    let forgotten: &[&str] = if shown.is_text() {
        &["illicit"]
    } else {
        &["violence", "sexual"]
    };
    for category in forgotten {
        forget(&mut answer, category, shown.is_text());
    }
    answer
}

/// It did not score a category and its subcategories. For texts they are null. For images they are
/// 0 and apply to no input.
pub(super) fn forget(answer: &mut Value, category: &str, is_text: bool) {
    let result = &mut answer["results"][0];
    let below = format!("{category}/");
    for (name, _) in CATEGORIES {
        if name != category && !name.starts_with(&below) {
            continue;
        }
        if is_text {
            result["categories"][name] = Value::Null;
            result["category_scores"][name] = Value::Null;
        } else {
            result["categories"][name] = false.into();
            result["category_scores"][name] = 0.0.into();
            result["category_applied_input_types"][name] = json!([]);
        }
    }
}
