//! AWS Rekognition.

use hyper::http::request::Parts;
use image::ImageFormat;
use serde_json::{Value, json};

use super::{FakeProvider, Picture, Refusal, Shown, sigv4};

const INVALID: Refusal = Refusal(400, "InvalidParameterException");

pub(super) fn read(parts: &Parts, body: &[u8], request: &Value) -> Result<Shown, Refusal> {
    let key = sigv4::Key {
        id: FakeProvider::KEY_ID,
        secret: FakeProvider::KEY,
        region: "eu-west-1",
        service: "rekognition",
        signed: &["host", "x-amz-date", "x-amz-target"],
    };
    key.check(parts, body)?;
    let header = |name: &str| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if header("x-amz-target") != Some("RekognitionService.DetectModerationLabels")
        || header("content-type") != Some("application/x-amz-json-1.1")
        || parts.uri.path() != "/"
    {
        return Err(Refusal(400, "UnknownOperationException"));
    }
    if request["MinConfidence"] != 0 {
        return Err(INVALID);
    }
    let file = request["Image"]["Bytes"].as_str().ok_or(INVALID)?;
    let picture = Picture::of_base64(file).ok_or(Refusal(400, "InvalidImageFormatException"))?;
    if !matches!(picture.format, ImageFormat::Jpeg | ImageFormat::Png) {
        return Err(Refusal(400, "InvalidImageFormatException"));
    }
    let fits = picture
        .sides()
        .iter()
        .all(|side| (80..=10_000).contains(side));
    if !fits || picture.bytes > 5 << 20 {
        return Err(Refusal(400, "ImageTooLargeException"));
    }
    Ok(Shown::picture(request, &picture))
}

pub(super) fn well(shown: &Shown) -> Value {
    let label = |name: &str, parent: &str, level: u8| json!({ "Name": name, "ParentName": parent, "Confidence": 97.0, "TaxonomyLevel": level });
    let labels = [
        label("Weapon Violence", "Graphic Violence", 3),
        label("Graphic Violence", "Violence", 2),
        label("Violence", "", 1),
    ];
    let found = if shown.violent[0] {
        labels.as_slice()
    } else {
        &[]
    };
    labelled(found, "7.0")
}

pub(super) fn labelled(labels: &[Value], version: &str) -> Value {
    json!({ "ModerationLabels": labels, "ModerationModelVersion": version, "ContentTypes": [] })
}

/// It throttles with the status 400.
pub(super) fn hidden() -> (u16, Value) {
    (400, error("ProvisionedThroughputExceededException"))
}

pub(super) fn error(code: &str) -> Value {
    json!({ "__type": code, "message": code })
}
