//! The first digits of a hash, as a query parameter.

use api_common::member::Described;
use domain::image_hash::HashPrefix;
use poem_openapi::registry::MetaSchema;

impl Described for HashPrefix {
    fn expected() -> String {
        "4 to 64 hexadecimal digits".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some("^[0-9A-Fa-f]{4,64}$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}
