//! What an application submits, parsed once. After [`Submission::parse`], nobody checks these
//! fields again.

mod image;
mod json_depth;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde_json::value::RawValue;

pub use self::image::{ImageSource, is_data_uri};
use self::image::{parse_image, parse_url};
use crate::{
    id::RuleGroupId,
    image::MAX_IMAGE_BYTES,
    lone_surrogates::{self, Half},
    media::ContentType,
};

/// The fields as they came. Absent, null and empty content are all `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawSubmission<'a> {
    /// Text to moderate.
    pub body: Option<&'a str>,
    /// Where an image can be fetched.
    pub content_url: Option<&'a str>,
    /// An image as base64, plain or as a data URI.
    pub content_base64: Option<&'a str>,
    /// The application's own identifier.
    pub app_media_id: Option<&'a str>,
    /// The group to judge by, instead of the site's own.
    pub rule_group_id: Option<&'a str>,
    /// Anything that the application wants to get back in events.
    pub metadata: Option<&'a RawValue>,
    /// The fields that should be strings and cannot be used as such. They count as given.
    pub no_texts: &'a [(&'static str, NoText)],
}

/// A submission that keeps all limits.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Text to moderate; never empty.
    pub body: Option<String>,
    /// The image to moderate.
    pub image: Option<ImageSource>,
    /// The application's own identifier.
    pub app_media_id: Option<String>,
    /// The group to judge by, instead of the site's own.
    pub rule_group: Option<RuleGroupId>,
    /// A JSON object, spelled as it came.
    pub metadata: Option<Box<RawValue>>,
}

impl Submission {
    /// Checks every field and reports every mistake, in the order of the fields.
    pub fn parse(
        raw: RawSubmission<'_>,
        limits: &SubmissionLimits,
    ) -> Result<Self, Vec<FieldError>> {
        const CONTENT: [&str; 3] = ["body", "content_url", "content_base64"];
        let mut errors: Vec<FieldError> = raw
            .no_texts
            .iter()
            .map(|(name, why)| no_text(name, *why))
            .collect();
        let body = raw.body.filter(|text| !text.is_empty());
        let content_url = raw.content_url.filter(|text| !text.is_empty());
        let content_base64 = raw.content_base64.filter(|text| !text.is_empty());

        let is_given = body.or(content_url).or(content_base64).is_some();
        if !is_given && !raw.no_texts.iter().any(|(name, _)| CONTENT.contains(name)) {
            errors.push(FieldError {
                field: "body".into(),
                fault: Fault::EmptySubmission,
                message: "give text in body, an image in content_url or content_base64, or text and an image".into(),
            });
        }
        if content_url.is_some() && content_base64.is_some() {
            errors.push(FieldError {
                field: "content_base64".into(),
                fault: Fault::ConflictingContent,
                message: "give either content_url or content_base64: a media item has one image"
                    .into(),
            });
        }
        let mut keep = |result: Result<(), FieldError>| errors.extend(result.err());
        keep(check_text("body", body, limits.text));
        keep(check_app_media_id(raw.app_media_id));
        keep(check_metadata(raw.metadata, limits));

        let rule_group = parse_optional(raw.rule_group_id, parse_rule_group, &mut errors);
        let url = parse_optional(content_url, parse_url, &mut errors);
        let inline = parse_optional(
            content_base64,
            |text| parse_image(text, limits.image),
            &mut errors,
        );

        if errors.is_empty() {
            Ok(Self {
                body: body.map(str::to_owned),
                image: url.or(inline),
                app_media_id: raw.app_media_id.map(str::to_owned),
                rule_group,
                metadata: raw.metadata.map(ToOwned::to_owned),
            })
        } else {
            Err(errors)
        }
    }

    /// `image` if there is an image.
    pub fn content_type(&self) -> ContentType {
        if self.image.is_some() {
            ContentType::Image
        } else {
            ContentType::Text
        }
    }

    /// Roughly how many bytes of memory it takes. Batches are limited by this.
    pub fn weight(&self) -> usize {
        let image = match &self.image {
            Some(ImageSource::Inline { bytes, .. }) => bytes.len(),
            Some(ImageSource::Url(url)) => url.as_str().len(),
            None => 0,
        };
        let metadata = self
            .metadata
            .as_ref()
            .map_or(0, |metadata| metadata.get().len());
        256 + self.body.as_ref().map_or(0, String::len) + image + metadata
    }
}

fn parse_optional<T>(
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
    errors: &mut Vec<FieldError>,
) -> Option<T> {
    text.and_then(|text| parse(text).map_err(|error| errors.push(error)).ok())
}

fn check_text(field: &'static str, text: Option<&str>, limit: usize) -> Result<(), FieldError> {
    let Some(text) = text else { return Ok(()) };
    if text.len() > limit {
        let message = format!("is {} bytes of UTF-8; the limit is {limit}", text.len());
        return Err(FieldError {
            field: field.into(),
            fault: Fault::TextTooLarge,
            message,
        });
    }
    no_nul(field, text)
}

fn check_app_media_id(id: Option<&str>) -> Result<(), FieldError> {
    let Some(id) = id else { return Ok(()) };
    if id.chars().count() > MAX_APP_MEDIA_ID {
        return Err(invalid(
            "app_media_id",
            format!("is longer than {MAX_APP_MEDIA_ID} characters"),
        ));
    }
    no_nul("app_media_id", id)
}

fn parse_rule_group(text: &str) -> Result<RuleGroupId, FieldError> {
    text.parse()
        .map_err(|_| invalid("rule_group_id", "must be a UUID"))
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name in the request, or the path of the faulty part: `metadata.a[2]`.
    pub field: Cow<'static, str>,
    /// What kind of mistake it is.
    pub fault: Fault,
    /// What the developer should do about it.
    pub message: String,
}

/// The kinds of mistakes that a client can distinguish by `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The field does not accept this value.
    InvalidField,
    /// There is neither text nor an image.
    EmptySubmission,
    /// There are two images.
    ConflictingContent,
    /// The text is over its limit.
    TextTooLarge,
    /// The inline image is over its limit.
    ImageTooLarge,
    /// `content_base64` is not base64.
    InvalidImage,
    /// The inline image has an unsupported format.
    UnsupportedImage,
}

fn invalid(field: impl Into<Cow<'static, str>>, message: impl Into<String>) -> FieldError {
    FieldError {
        field: field.into(),
        fault: Fault::InvalidField,
        message: message.into(),
    }
}

fn no_nul(field: &'static str, text: &str) -> Result<(), FieldError> {
    if text.contains('\0') {
        return Err(invalid(
            field,
            "must not contain the NUL character (U+0000)",
        ));
    }
    Ok(())
}

/// Why a field that should be a string has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoText {
    /// It is something else.
    OtherType,
    /// It contains half of a character, and is no text to moderate.
    Half(Half),
}

fn no_text(name: &'static str, why: NoText) -> FieldError {
    match why {
        NoText::OtherType => invalid(name, "must be a string"),
        NoText::Half(half) => invalid(name, half.to_string()),
    }
}

/// Bounds of one submission. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct SubmissionLimits {
    /// Text, as UTF-8.
    pub text: usize,
    /// An inline image, decoded.
    pub image: usize,
    /// The raw JSON of `metadata`.
    pub metadata: usize,
    /// How deep the objects and arrays of `metadata` may be nested. The outermost object counts as
    /// 1.
    pub metadata_depth: usize,
}

impl Default for SubmissionLimits {
    /// The documented limits: 100 KB of text, 10 MB of image, 16 KiB of metadata with a depth of
    /// 32. Deeper metadata could be stored, but many JSON parsers of receivers refuse it, and the
    /// event adds levels of its own.
    fn default() -> Self {
        Self {
            text: 100 * 1024,
            image: MAX_IMAGE_BYTES,
            metadata: 16 * 1024,
            metadata_depth: 32,
        }
    }
}

/// Longest `app_media_id`, in characters.
pub const MAX_APP_MEDIA_ID: usize = 1_024;

/// Longest `content_url`, in bytes: what browsers and servers commonly accept.
pub const MAX_CONTENT_URL: usize = 8_192;

/// The parser has checked that this is valid JSON. Here it must be a small object, not too deep,
/// without NUL, which many receivers' databases cannot store, and without half characters, which many parsers refuse.
fn check_metadata(
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
