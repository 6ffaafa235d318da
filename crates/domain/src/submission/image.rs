//! The image of a submission: a URL, or a file as base64.

#[cfg(test)]
mod tests;

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use url::Url;

use super::{Fault, FieldError, MAX_CONTENT_URL, invalid};
use crate::image::ImageFormat;

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

/// With or without padding.
const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// How many characters are decoded at once. Whole groups of four.
const CHUNK: usize = 4_096;

/// base64 that has not been decoded. Programs write it in lines, in the alphabet for URLs, without padding, or as a data URI,
/// of which parts can be percent-encoded. All of these are read. What is missing or damaged is not.
#[derive(Clone, Copy)]
struct Encoded<'a> {
    text: &'a str,
    /// Whether characters can be percent-encoded.
    is_uri: bool,
}

/// Why it cannot be decoded.
#[derive(Debug, PartialEq, Eq)]
enum Undecodable {
    /// It decodes to more bytes than permitted.
    TooLarge,
    /// It is not base64. The text says what is wrong, and continues the name of the field.
    Invalid(String),
}

/// Whether this is a data URI. Schemes have no case.
pub fn is_data_uri(text: &str) -> bool {
    const SCHEME: &str = "data:";
    let start = text.trim_ascii_start().get(..SCHEME.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(SCHEME))
}

impl<'a> Encoded<'a> {
    /// Finds the base64 in a text that is base64 or a data URI.
    fn of(text: &'a str) -> Result<Self, Undecodable> {
        if !is_data_uri(text) {
            return Ok(Self {
                text,
                is_uri: false,
            });
        }
        let (head, text) = text.split_once(',').ok_or_else(|| {
            not_base64("is a data URI without a comma: it must be data:image/...;base64,...")
        })?;
        // Parameters have no case, either.
        let (_, last) = head.rsplit_once(';').unwrap_or_default();
        if !last.trim_ascii().eq_ignore_ascii_case("base64") {
            return Err(not_base64(
                "is a data URI without ;base64 before its comma: it must be data:image/...;base64,...",
            ));
        }
        Ok(Self { text, is_uri: true })
    }

    /// The file, if it has at most about this many bytes. A few more are possible. Takes linear time, and memory for the
    /// file only.
    fn decode(self, limit: usize) -> Result<Vec<u8>, Undecodable> {
        let is_too_large = |characters: usize| characters / 4 * 3 > limit + 2;
        if !is_too_large(self.text.len())
            && let Ok(file) = ENGINE.decode(self.text)
            && !file.is_empty()
        {
            return Ok(file);
        }
        let characters = self.characters().count();
        if is_too_large(characters) {
            return Err(Undecodable::TooLarge);
        }
        if characters == 0 && self.is_uri {
            // An empty file, which is no image.
            return Ok(Vec::new());
        }
        if characters == 0 {
            return Err(not_base64("is not base64: it has only white space"));
        }
        let mut file = Vec::with_capacity(characters / 4 * 3 + 3);
        let mut rest = self.characters();
        let mut chunk = Vec::with_capacity(CHUNK);
        loop {
            let is_padded = chunk.last() == Some(&b'=');
            chunk.clear();
            chunk.extend(rest.by_ref().take(CHUNK));
            if chunk.is_empty() {
                return Ok(file);
            }
            if is_padded || ENGINE.decode_vec(&chunk, &mut file).is_err() {
                return Err(not_base64(&self.mistake()));
            }
        }
    }

    /// The characters that count, in the standard alphabet.
    fn characters(self) -> impl Iterator<Item = u8> {
        let mut bytes = self.text.bytes();
        let mut unescaped = move || {
            let byte = bytes.next()?;
            if !self.is_uri || byte != b'%' {
                return Some(byte);
            }
            let mut ahead = bytes.clone();
            let mut digit = || char::from(ahead.next()?).to_digit(16);
            let escaped = digit().zip(digit()).map(|(high, low)| high * 16 + low);
            match escaped.and_then(|escaped| u8::try_from(escaped).ok()) {
                Some(escaped) => {
                    bytes = ahead;
                    Some(escaped)
                }
                None => Some(byte),
            }
        };
        std::iter::from_fn(move || {
            loop {
                match unescaped()? {
                    b'-' => return Some(b'+'),
                    b'_' => return Some(b'/'),
                    byte if byte.is_ascii_whitespace() => {}
                    byte => return Some(byte),
                }
            }
        })
    }

    /// What is wrong with it.
    fn mistake(self) -> String {
        let text = self.text.trim_ascii_start();
        if ["http://", "https://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
        {
            return "is a URL: give it in content_url".to_owned();
        }
        let is_known = |character: char| {
            character.is_ascii_alphanumeric()
                || character.is_ascii_whitespace()
                || matches!(character, '+' | '/' | '-' | '_' | '=')
                || (self.is_uri && character == '%')
        };
        if let Some((before, character)) =
            self.text.chars().enumerate().find(|(_, c)| !is_known(*c))
        {
            let place = before + 1;
            return format!("is not base64: its character {place} is {character:?}");
        }
        let is_digit =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        if !self.characters().all(is_digit) {
            return "is not base64: it has a percent sign that escapes no character of base64"
                .to_owned();
        }
        let padding = self.characters().position(|character| character == b'=');
        let digits = padding.unwrap_or_else(|| self.characters().count());
        if self
            .characters()
            .skip(digits)
            .any(|character| character != b'=')
        {
            return "is not base64: it goes on after its padding (=)".to_owned();
        }
        if digits % 4 == 1 {
            return "is not base64: it has one character too many or was cut off, because the last of its groups of four has one".to_owned();
        }
        "is not base64: its end is damaged or was cut off".to_owned()
    }
}

fn not_base64(message: &str) -> Undecodable {
    Undecodable::Invalid(message.to_owned())
}
