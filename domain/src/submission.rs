//! What an application submits, parsed once: after [`Submission::parse`] nobody checks these fields again.

mod nesting;

use std::borrow::Cow;

use base64::Engine as _;
use serde_json::value::RawValue;
use url::Url;

use crate::{
    id::RuleGroupId,
    image::{ImageFormat, MAX_IMAGE_BYTES},
    media::ContentType,
};

/// Bounds of one submission. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct SubmissionLimits {
    /// Text, as UTF-8.
    pub text: usize,
    /// An inline image, decoded.
    pub image: usize,
    /// The raw JSON of `metadata`.
    pub metadata: usize,
    /// How deep the objects and arrays of `metadata` may nest. Its outermost object counts as 1.
    pub metadata_depth: usize,
}

impl Default for SubmissionLimits {
    /// The documented limits: 100 KB of text, 10 MB of image, 16 KiB of metadata that nest 32 deep. Deeper metadata could
    /// be stored, but many JSON parsers of receivers refuse it, and the event adds levels of its own.
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
/// Longest `content_url`, in bytes: what browsers and servers commonly take.
pub const MAX_CONTENT_URL: usize = 8_192;

/// The fields as they came, absent, null and empty content already being one thing: `None`.
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
    /// Anything the application wants back with the events.
    pub metadata: Option<&'a RawValue>,
    /// The names of fields that should be texts and are something else. They count as given.
    pub no_texts: &'a [&'static str],
}

/// A submission that keeps every limit.
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

/// Where the image of a submission is.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// To be fetched by a worker, through the egress guard.
    Url(Url),
    /// Sent along.
    Inline {
        /// What its first bytes say that it is.
        format: ImageFormat,
        /// The file.
        bytes: Vec<u8>,
    },
}

/// What is wrong with one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name in the request, or the path of what is wrong inside it: `metadata.a[2]`.
    pub field: Cow<'static, str>,
    /// What kind of mistake it is.
    pub fault: Fault,
    /// What to do about it, for a developer.
    pub message: String,
}

/// The kinds of mistake that a client can tell apart by `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A field's value is not what the field takes.
    InvalidField,
    /// There is neither text nor an image.
    EmptySubmission,
    /// There are two images.
    ConflictingContent,
    /// The text is over its limit.
    TextTooLarge,
    /// The inline image is over its limit.
    ImageTooLarge,
    /// `content_base64` is no base64.
    InvalidImage,
    /// The inline image has an unsupported format.
    UnsupportedImage,
}

fn no_text(name: &'static str) -> FieldError {
    FieldError {
        field: name.into(),
        fault: Fault::InvalidField,
        message: "must be a string".into(),
    }
}

impl Submission {
    /// Checks every field and reports every mistake, in the order of the fields.
    pub fn parse(
        raw: RawSubmission<'_>,
        limits: &SubmissionLimits,
    ) -> Result<Self, Vec<FieldError>> {
        const CONTENT: [&str; 3] = ["body", "content_url", "content_base64"];
        let mut errors: Vec<FieldError> = raw.no_texts.iter().map(|name| no_text(name)).collect();
        let body = raw.body.filter(|text| !text.is_empty());
        let content_url = raw.content_url.filter(|text| !text.is_empty());
        let content_base64 = raw.content_base64.filter(|text| !text.is_empty());

        let is_given = body.or(content_url).or(content_base64).is_some();
        if !is_given && !CONTENT.iter().any(|name| raw.no_texts.contains(name)) {
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

    /// `image` as soon as there is one.
    pub fn content_type(&self) -> ContentType {
        if self.image.is_some() {
            ContentType::Image
        } else {
            ContentType::Text
        }
    }

    /// How many bytes of memory it holds, roughly: what batches are bounded by.
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

/// The parser has checked that this is valid JSON. Here it must be an object, small, not deep, and free of NUL, which many
/// databases behind our receivers cannot store.
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
    if let Some(path) = nesting::too_deep("metadata", raw, most) {
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
    Ok(())
}

/// Whether the JSON text holds the escape of U+0000. An even number of backslashes before the `u` escapes themselves.
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

fn parse_rule_group(text: &str) -> Result<RuleGroupId, FieldError> {
    text.parse()
        .map_err(|_| invalid("rule_group_id", "must be a UUID"))
}

fn parse_url(text: &str) -> Result<ImageSource, FieldError> {
    if text.len() > MAX_CONTENT_URL {
        return Err(invalid(
            "content_url",
            format!("is longer than {MAX_CONTENT_URL} bytes"),
        ));
    }
    let url: Url = text
        .parse()
        .map_err(|_| invalid("content_url", "must be an absolute http or https URL"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("content_url", "must be an http or https URL"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid(
            "content_url",
            "must not contain a user name or password",
        ));
    }
    Ok(ImageSource::Url(url))
}

fn parse_image(text: &str, limit: usize) -> Result<ImageSource, FieldError> {
    let fail = |fault, message: String| FieldError {
        field: "content_base64".into(),
        fault,
        message,
    };
    let encoded = match text.strip_prefix("data:") {
        None => text,
        Some(uri) => uri
            .split_once(";base64,")
            .map(|(_, encoded)| encoded)
            .ok_or_else(|| {
                fail(
                    Fault::InvalidImage,
                    "a data URI must be data:image/...;base64,...".into(),
                )
            })?,
    };
    let encoded = encoded.trim_ascii();
    // Judged before decoding, so that no memory is spent on what is refused anyway.
    if encoded.len() / 4 * 3 > limit + 2 {
        return Err(fail(
            Fault::ImageTooLarge,
            format!("decodes to more than {limit} bytes"),
        ));
    }
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(encoded)
        .map_err(|error| fail(Fault::InvalidImage, format!("is not base64: {error}")))?;
    if bytes.len() > limit {
        return Err(fail(
            Fault::ImageTooLarge,
            format!("is {} bytes; the limit is {limit}", bytes.len()),
        ));
    }
    let format = ImageFormat::sniff(&bytes).ok_or_else(|| {
        fail(
            Fault::UnsupportedImage,
            "does not begin like a JPEG, PNG, GIF or WebP file".into(),
        )
    })?;
    Ok(ImageSource::Inline { format, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(raw: RawSubmission<'_>) -> Result<Submission, Vec<Fault>> {
        Submission::parse(raw, &SubmissionLimits::default())
            .map_err(|errors| errors.into_iter().map(|error| error.fault).collect())
    }

    fn text(body: &str) -> RawSubmission<'_> {
        RawSubmission {
            body: Some(body),
            ..RawSubmission::default()
        }
    }

    fn faults(raw: RawSubmission<'_>) -> Vec<Fault> {
        parse(raw).err().unwrap_or_default()
    }

    #[test]
    fn an_empty_string_counts_as_not_given() {
        assert_eq!(faults(text("")), [Fault::EmptySubmission]);
        let url = RawSubmission {
            content_url: Some("https://example.com/a.png"),
            ..text("")
        };
        assert_eq!(parse(url).unwrap().content_type(), ContentType::Image);
    }

    #[test]
    fn the_text_limit_counts_bytes_and_is_exact() {
        assert!(parse(text(&"ü".repeat(51_200))).is_ok());
        assert_eq!(faults(text(&"a".repeat(102_401))), [Fault::TextTooLarge]);
    }

    #[test]
    fn nul_is_refused_by_name_in_text_and_inside_metadata() {
        assert_eq!(faults(text("a\0b")), [Fault::InvalidField]);
        let metadata = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            faults(RawSubmission {
                metadata: Some(&raw),
                ..text("a")
            })
        };
        assert_eq!(metadata(r#"{"a":"\u0000"}"#), [Fault::InvalidField]);
        assert_eq!(metadata(r#"{"a":"\\u0000"}"#), []);
        assert_eq!(metadata(r#"{"a":"\\\u0000"}"#), [Fault::InvalidField]);
        assert_eq!(metadata("[1]"), [Fault::InvalidField]);
    }

    #[test]
    fn case_41_metadata_nests_32_deep_and_no_deeper() {
        let nested = |depth: usize| {
            let json = format!(
                r#"{{"a":{}1{}}}"#,
                "[".repeat(depth - 1),
                "]".repeat(depth - 1)
            );
            let raw = RawValue::from_string(json).unwrap();
            let raw = RawSubmission {
                metadata: Some(&raw),
                ..text("a")
            };
            Submission::parse(raw, &SubmissionLimits::default())
        };
        assert!(nested(32).is_ok());
        for depth in [33, 8_000] {
            let [error] = <[_; 1]>::try_from(nested(depth).unwrap_err()).unwrap();
            assert_eq!(error.fault, Fault::InvalidField);
            assert_eq!(error.field, format!("metadata.a{}", "[0]".repeat(31)));
            assert!(error.message.contains("at most 32 deep"), "{error:?}");
        }
    }

    #[test]
    fn every_mistake_is_reported_at_once() {
        let raw = RawSubmission {
            content_url: Some("ftp://example.com"),
            rule_group_id: Some("x"),
            content_base64: Some("%%%"),
            ..RawSubmission::default()
        };
        assert_eq!(
            faults(raw),
            [
                Fault::ConflictingContent,
                Fault::InvalidField,
                Fault::InvalidField,
                Fault::InvalidImage
            ]
        );
    }

    #[test]
    fn inline_images_are_known_by_their_first_bytes_not_by_their_declared_type() {
        let image = |text: &str| {
            faults(RawSubmission {
                content_base64: Some(text),
                ..RawSubmission::default()
            })
        };
        assert_eq!(image("data:image/jpeg;base64,iVBORw0KGgoAAAANSUhEUg=="), []);
        assert_eq!(image("data:image/png,iVBORw0KGgo="), [Fault::InvalidImage]);
        assert_eq!(image("aGVsbG8gd29ybGQ="), [Fault::UnsupportedImage]);
    }

    #[test]
    fn a_url_with_credentials_is_refused() {
        let raw = RawSubmission {
            content_url: Some("https://a:b@example.com/"),
            ..RawSubmission::default()
        };
        assert_eq!(faults(raw), [Fault::InvalidField]);
    }
}
