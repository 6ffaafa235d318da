//! Whether a text has line numbers for its parts: files that people write do, requests do not.

use serde::de::DeserializeOwned;
use serde_saphyr::Spanned;

use crate::rules::error::Place;

/// Whether the text has places.
pub(crate) trait Placing: 'static {
    /// A value, with its place if there is one.
    type Of<T: DeserializeOwned>: DeserializeOwned;

    fn apart<T: DeserializeOwned>(of: Self::Of<T>) -> (T, Option<Place>);
}

/// JSON: the path is enough.
#[derive(Debug)]
pub(crate) struct Unplaced;

/// YAML, which people write by hand.
#[derive(Debug)]
pub(crate) struct InYaml;

impl Placing for Unplaced {
    type Of<T: DeserializeOwned> = T;

    fn apart<T: DeserializeOwned>(value: T) -> (T, Option<Place>) {
        (value, None)
    }
}

impl Placing for InYaml {
    type Of<T: DeserializeOwned> = Spanned<T>;

    fn apart<T: DeserializeOwned>(of: Spanned<T>) -> (T, Option<Place>) {
        let place = Place {
            line: of.referenced.line(),
            column: of.referenced.column(),
        };
        (of.value, Some(place))
    }
}
