//! Reading uses the same names as the documents.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde_json::{from_value, json};

use super::*;

/// Each member of a closed set is read by the name that it has in documents.
fn is_named<T: Copy + Debug + DeserializeOwned + Display + FromStr + PartialEq>(all: &[T]) {
    for value in all {
        let name = value.to_string();
        assert_eq!(from_value::<T>(json!(name)).unwrap(), *value);
        assert_eq!(name.parse::<T>().ok(), Some(*value));
    }
}

#[test]
fn the_names_are_those_of_the_documents() {
    is_named(RuleType::ALL);
    is_named(RuleEffect::ALL);
    is_named(Matching::ALL);
    is_named(LinkPolicy::ALL);
    is_named(Bare::ALL);
}
