//! The metadata of a submission: a JSON object that is stored and sent back unchanged.

use serde_json::value::RawValue;

use super::field_error::{FieldError, invalid};
use super::json_depth;
use super::limits::SubmissionLimits;
use crate::lone_surrogates;

/// The parser has checked that this is valid JSON. Here it must be a small object, not too deep,
/// without NUL, which many receivers' databases cannot store, and without half characters, which many parsers refuse.
pub(super) fn check_metadata(
    metadata: Option<&RawValue>,
    limits: &SubmissionLimits,
) -> Result<(), FieldError> {
    let Some(raw) = metadata.map(RawValue::get) else {
        return Ok(());
    };
    if !raw.starts_with('{') {
        return Err(invalid("metadata", "must be a JSON object"));
    }
    if raw.len() > limits.metadata {
        return Err(invalid(
            "metadata",
            format!(
                "is {} bytes of JSON; the limit is {}",
                raw.len(),
                limits.metadata
            ),
        ));
    }
    let most = limits.metadata_depth;
    if let Some(path) = json_depth::too_deep("metadata", raw, most) {
        let message = format!(
            "is nested too deeply: objects and arrays may be nested at most {most} deep, including metadata itself"
        );
        return Err(invalid(path, message));
    }
    if escapes_nul(raw) {
        return Err(invalid(
            "metadata",
            "must not contain the NUL character (U+0000)",
        ));
    }
    if let Some((at, half)) = lone_surrogates::first_half(raw) {
        let path =
            json_depth::path_of("metadata", raw, at).unwrap_or_else(|| "metadata".to_owned());
        return Err(invalid(path, half.to_string()));
    }
    Ok(())
}

/// Whether the JSON text contains the escape of U+0000. An even number of backslashes before the
/// `u` are escaped backslashes.
fn escapes_nul(json: &str) -> bool {
    json.match_indices("\\u0000").any(|(at, _)| {
        let before = json[..at]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        before % 2 == 0
    })
}
