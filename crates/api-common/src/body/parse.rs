//! Parses JSON. Errors name the path of what is wrong, and never repeat a value.

use domain::lone_surrogates::Half;
use poem::Result;
use serde::de::{Deserialize, DeserializeOwned};
use serde_json::{Deserializer, de::Read};

use crate::problem::Refusal;

/// Parses a JSON object.
pub fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    match bytes.trim_ascii_start().first() {
        Some(b'{') => {}
        Some(_) => return Err(Refusal::invalid_request("The body must be a JSON object.")),
        None => {
            return Err(Refusal::invalid_request(
                "The body is empty; it must be a JSON object.",
            ));
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(Deserializer::from_str(text)),
        // Parse it anyway, to name the member. In an ignored member, the parser would accept it.
        Err(error) => Err(decode::<_, T>(Deserializer::from_slice(bytes))
            .err()
            .unwrap_or_else(|| {
                Refusal::invalid_request(format!(
                    "The body is not UTF-8, from byte {} on.",
                    error.valid_up_to()
                ))
            })),
    }
}

pub(super) fn decode<'de, R: Read<'de>, T: Deserialize<'de>>(
    mut json: Deserializer<R>,
) -> Result<T, Refusal> {
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        explain(&path, &error.into_inner())
    })?;
    json.end().map_err(|error| explain(ROOT, &error))?;
    Ok(value)
}

/// The paths that `serde_path_to_error` writes for the whole document, and for a member whose name
/// it has not read.
pub(super) const ROOT: &str = ".";

pub(super) const NAMELESS: &str = "?";

/// What the parser says about half of a character (`domain::lone_surrogates`), in a text that is more than judged.
const HALVES: [&str; 2] = [
    "lone leading surrogate in hex escape",
    "unexpected end of hex escape",
];

/// Says which member is wrong and what it should be, without repeating its value.
pub(super) fn explain(path: &str, error: &serde_json::Error) -> Refusal {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    if let Some(name) = quoted_after("duplicate field `", message) {
        return Refusal::invalid_field(inside(path, name), "is given twice");
    }
    if let Some(name) = quoted_after("missing field `", message) {
        return Refusal::invalid_field(inside(path, name), "is missing");
    }
    if HALVES.contains(&message) {
        return match path {
            ROOT | NAMELESS => Refusal::invalid_request(format!("The body {}.", Half::Inside)),
            path => Refusal::invalid_field(shortened(path), Half::Inside.to_string()),
        };
    }
    if matches!(path, ROOT | NAMELESS) {
        return Refusal::invalid_request(format!("The body is not valid JSON: {error}."));
    }
    if message.starts_with("unknown field `") {
        return Refusal::invalid_field(shortened(path), "is no member of this request");
    }
    let message = match message.split_once(", expected ") {
        Some((_, expected)) => format!("must be {expected}"),
        None if error.is_data() => message.to_owned(),
        None => format!("is not valid JSON: {error}"),
    };
    Refusal::invalid_field(path, message)
}

pub(super) fn quoted_after<'m>(prefix: &str, message: &'m str) -> Option<&'m str> {
    message.strip_prefix(prefix)?.split('`').next()
}

/// The path of a member, from the path of its object and its name.
pub(super) fn inside(path: &str, name: &str) -> String {
    match path {
        ROOT | NAMELESS => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// A path that the client invented is shortened.
pub(super) fn shortened(path: &str) -> String {
    const LONGEST: usize = 100;
    match path.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}...", &path[..cut]),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests;
