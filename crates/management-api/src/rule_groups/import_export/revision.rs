//! The revision of a draft, as a query parameter.

use api_common::field::Described;
use poem_openapi::registry::MetaSchema;

/// A revision in a query.
pub(crate) struct Revision(pub(super) i64);

impl std::str::FromStr for Revision {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Described for Revision {
    fn expected() -> String {
        "the `revision` of a draft".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("integer", "int64")
    }
}
