//! Members that are texts: names, e-mail addresses, reasons, policies, hashes in hexadecimal.

use domain::{
    author::Author,
    email::Email,
    image_hash::{HashPrefix, Pdq, Sha256Digest},
    metadata_pointer::MetadataPointer,
    name::Name,
    policy::Policy,
    reason::Reason,
    review::{Guideline, NoteText, PolicyCode},
    webhook::EndpointUrl,
};
use poem_openapi::registry::MetaSchema;

use super::Described;

/// Any characters but NUL.
const WITHOUT_NUL: &str = r"^[^\x00]*$";

/// Any characters but NUL, and not only white space.
const NOT_BLANK: &str = r"^[^\x00]*[^\s\x00][^\x00]*$";

/// Describes types of text: what is expected, in words and as a schema.
macro_rules! texts {
    ($($name:ident: $expected:expr, $schema:expr;)+) => {$(
        impl Described for $name {
            fn expected() -> String {
                $expected.into()
            }

            fn schema() -> MetaSchema {
                $schema
            }
        }
    )+};
}

texts! {
    Name: format!(
        "a text of 1 to {} characters, without control characters and without white space at its ends",
        Name::LONGEST,
    ), filled(Name::LONGEST, None);
    PolicyCode: format!(
        "a text of 1 to {} of the characters a to z, 0 to 9, _, - and ., the first a letter",
        PolicyCode::LONGEST,
    ), filled(PolicyCode::LONGEST, Some("^[a-z][a-z0-9_.-]*$"));
    Guideline: format!("a text of at most {} characters, without NUL", Guideline::LONGEST),
        at_most(Guideline::LONGEST, WITHOUT_NUL);
    NoteText: not_blank_expected(NoteText::LONGEST, "characters"),
        filled(NoteText::LONGEST, Some(NOT_BLANK));
    Author: format!("a text of 1 to {} characters, none of them NUL", Author::LONGEST),
        filled(Author::LONGEST, Some(WITHOUT_NUL));
    MetadataPointer: format!(
        "a JSON pointer such as /user/id, of at most {} characters and {} names",
        MetadataPointer::LONGEST,
        MetadataPointer::DEEPEST,
    ), filled(
        MetadataPointer::LONGEST,
        Some(&format!(r"^(/([^/~\x00]|~[01])*){{1,{}}}$", MetadataPointer::DEEPEST)),
    );
    Email: format!(
        "an e-mail address of at most {} ASCII characters, such as ada@example.com",
        Email::LONGEST,
    ), at_most(Email::LONGEST, Email::PATTERN);
    Reason: not_blank_expected(Reason::LONGEST, "characters"),
        filled(Reason::LONGEST, Some(NOT_BLANK));
    // A schema counts characters. A text with too many characters has too many bytes, too.
    Policy: not_blank_expected(Policy::LONGEST, "bytes"),
        filled(Policy::LONGEST, Some(NOT_BLANK));
    EndpointUrl: EndpointUrl::EXPECTED, MetaSchema {
        max_length: Some(EndpointUrl::LONGEST),
        ..MetaSchema::new_with_format("string", "uri")
    };
    HashPrefix: "4 to 64 hexadecimal digits", pattern("^[0-9A-Fa-f]{4,64}$");
    Pdq: "64 hexadecimal digits", pattern("^[0-9A-Fa-f]{64}$");
    Sha256Digest: "64 hexadecimal digits", pattern("^[0-9A-Fa-f]{64}$");
}

fn not_blank_expected(longest: usize, unit: &str) -> String {
    format!("a text of 1 to {longest} {unit}, without NUL and not only white space")
}

/// A text of at least one character.
fn filled(longest: usize, pattern: Option<&str>) -> MetaSchema {
    MetaSchema {
        min_length: Some(1),
        max_length: Some(longest),
        pattern: pattern.map(str::to_owned),
        ..MetaSchema::new("string")
    }
}

fn at_most(longest: usize, form: &str) -> MetaSchema {
    MetaSchema {
        max_length: Some(longest),
        ..pattern(form)
    }
}

fn pattern(form: &str) -> MetaSchema {
    MetaSchema {
        pattern: Some(form.to_owned()),
        ..MetaSchema::new("string")
    }
}
