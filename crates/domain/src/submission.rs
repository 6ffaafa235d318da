//! What an application submits, parsed once. After [`Submission::parse`], nobody checks these
//! fields again.

mod field_error;
mod image;
mod json_depth;
mod limits;
mod metadata;

use serde_json::value::RawValue;

use self::field_error::{invalid, no_nul, no_text};
use self::image::{parse_image, parse_url};
use self::metadata::check_metadata;
use crate::{id::RuleGroupId, media::ContentType};

pub use self::field_error::{Fault, FieldError, NoText};
pub use self::image::{ImageSource, is_data_uri};
pub use self::limits::{MAX_APP_MEDIA_ID, MAX_CONTENT_URL, SubmissionLimits};

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

#[cfg(test)]
mod tests;
