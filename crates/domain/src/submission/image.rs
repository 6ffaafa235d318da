//! The image of a submission: a URL, or a file as base64.

mod base64_image;

use url::Url;

use super::field_error::{Fault, FieldError, invalid};
use super::limits::MAX_CONTENT_URL;
use crate::image::ImageFormat;
use base64_image::{Encoded, Undecodable};

pub use base64_image::is_data_uri;

/// Where the image of a submission is.
#[derive(Clone, Debug)]
pub enum ImageSource {
    /// A worker fetches it through the egress guard.
    Url(Url),
    /// Sent inline.
    Inline {
        /// The format, detected from the first bytes.
        format: ImageFormat,
        /// The file.
        bytes: Vec<u8>,
    },
}

pub(super) fn parse_url(text: &str) -> Result<ImageSource, FieldError> {
    if text.len() > MAX_CONTENT_URL {
        return Err(invalid(
            "content_url",
            format!("is longer than {MAX_CONTENT_URL} bytes"),
        ));
    }
    if is_data_uri(text) {
        return Err(invalid(
            "content_url",
            "is a data URI: give it in content_base64",
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

pub(super) fn parse_image(text: &str, limit: usize) -> Result<ImageSource, FieldError> {
    let fail = |fault, message: String| FieldError {
        field: "content_base64".into(),
        fault,
        message,
    };
    let decoded = Encoded::of(text).and_then(|encoded| encoded.decode(limit));
    let bytes = decoded.map_err(|error| match error {
        Undecodable::TooLarge => fail(
            Fault::ImageTooLarge,
            format!("decodes to more than {limit} bytes"),
        ),
        Undecodable::Invalid(message) => fail(Fault::InvalidImage, message),
    })?;
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
