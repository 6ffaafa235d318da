//! Members that are texts: names, e-mail addresses, reasons, policies, hashes in hexadecimal.

use domain::{
    author::Author,
    email::Email,
    image_hash::{Pdq, Sha256Digest},
    metadata_pointer::MetadataPointer,
    name::Name,
    policy::Policy,
    reason::Reason,
    review::{Guideline, NoteText, PolicyCode},
};
use poem_openapi::registry::MetaSchema;

use super::Described;

impl Described for Name {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, without control characters and without white space at its ends",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for PolicyCode {
    fn expected() -> String {
        format!(
            "a text of 1 to {} of the characters a to z, 0 to 9, _, - and ., the first a letter",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some("^[a-z][a-z0-9_.-]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Guideline {
    fn expected() -> String {
        format!(
            "a text of at most {} characters, without NUL",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            pattern: Some(r"^[^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for NoteText {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, without NUL and not only white space",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some(r"^[^\x00]*[^\s\x00][^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Author {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, none of them NUL",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some(r"^[^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for MetadataPointer {
    fn expected() -> String {
        format!(
            "a JSON pointer such as /user/id, of at most {} characters and {} names",
            Self::LONGEST,
            Self::DEEPEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some(format!(r"^(/([^/~\x00]|~[01])*){{1,{}}}$", Self::DEEPEST)),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Email {
    fn expected() -> String {
        format!(
            "an e-mail address of at most {} ASCII characters, such as ada@example.com",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            pattern: Some(Self::PATTERN.to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Reason {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, without NUL and not only white space",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some(r"^[^\x00]*[^\s\x00][^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Policy {
    fn expected() -> String {
        format!(
            "a text of 1 to {} bytes, without NUL and not only white space",
            Self::LONGEST
        )
    }

    /// A schema counts characters. A text with too many characters has too many bytes, too.
    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            ..Reason::schema()
        }
    }
}

macro_rules! hashes {
    ($($name:ident),+ $(,)?) => {$(
        impl Described for $name {
            fn expected() -> String {
                "64 hexadecimal digits".to_owned()
            }

            fn schema() -> MetaSchema {
                MetaSchema {
                    pattern: Some("^[0-9A-Fa-f]{64}$".to_owned()),
                    ..MetaSchema::new("string")
                }
            }
        }
    )+};
}

hashes!(Pdq, Sha256Digest);
