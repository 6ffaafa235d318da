//! The query parameter `cascade`: whether to disable the tokens that a token created.

use std::str::FromStr;

use api_common::field::Described;
use poem_openapi::registry::MetaSchema;
use store::token::Extent;

/// `true` or `false`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cascade(bool);

impl Cascade {
    pub(super) fn extent(self) -> Extent {
        if self.0 {
            Extent::Descendants
        } else {
            Extent::One
        }
    }
}

/// The text is neither `true` nor `false`.
pub(super) struct NeitherTrueNorFalse;

impl FromStr for Cascade {
    type Err = NeitherTrueNorFalse;

    fn from_str(text: &str) -> Result<Self, NeitherTrueNorFalse> {
        match text {
            "true" => Ok(Self(true)),
            "false" => Ok(Self(false)),
            _ => Err(NeitherTrueNorFalse),
        }
    }
}

impl Described for Cascade {
    fn expected() -> String {
        "true or false".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("boolean")
    }
}
