//! Reading uses the same names as the documents.

use serde_json::{from_value, json};

use super::*;

#[test]
fn the_names_are_those_of_the_documents() {
    for (name, kind) in KINDS {
        assert_eq!(name, kind.as_str());
        assert_eq!(from_value::<RuleType>(json!(name)).unwrap(), kind);
    }
    for (name, effect) in EFFECTS {
        assert_eq!(from_value::<RuleEffect>(json!(name)).unwrap(), effect);
    }
    for (name, matching) in MATCHINGS {
        assert_eq!(from_value::<Matching>(json!(name)).unwrap(), matching);
    }
    for (name, policy) in POLICIES {
        assert_eq!(from_value::<LinkPolicy>(json!(name)).unwrap(), policy);
    }
    for (name, bare) in BARES {
        assert_eq!(from_value::<Bare>(json!(name)).unwrap(), bare);
    }
}
