//! What can be wrong with a field, as the client sees it.

use std::borrow::Cow;

use crate::lone_surrogates::Half;

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

pub(super) fn invalid(
    field: impl Into<Cow<'static, str>>,
    message: impl Into<String>,
) -> FieldError {
    FieldError {
        field: field.into(),
        fault: Fault::InvalidField,
        message: message.into(),
    }
}

pub(super) fn no_nul(field: &'static str, text: &str) -> Result<(), FieldError> {
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

pub(super) fn no_text(name: &'static str, why: NoText) -> FieldError {
    match why {
        NoText::OtherType => invalid(name, "must be a string"),
        NoText::Half(half) => invalid(name, half.to_string()),
    }
}
