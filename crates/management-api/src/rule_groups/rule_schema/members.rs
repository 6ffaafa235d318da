//! The members of each kind of rule.

use domain::rules::{MAX_LISTS, MAX_PATTERN_CHARS, MAX_TERM_CHARS};
use serde_json::{Value, json};

use super::one_of;

/// The members of one kind only, and which of them are required.
pub(super) fn members(kind: &str) -> (Value, Vec<&'static str>) {
    let effect = one_of(
        "Effect",
        "What a match means: the content is rejected, or a person must review it.",
    );
    let mut matching = one_of(
        "Matching",
        "Whether keywords match whole words only, or parts of words, too.",
    );
    matching["default"] = "whole_word".into();
    let mut bare = one_of(
        "BareNames",
        "Which names without a scheme count as links: `likely` ones (no names of files, no sentences that lack a \
         space), `any` whose ending is on the public suffix list, or `none` unless it begins with `www.`. It \
         matters only with `allow`. A denied domain is always found. If it is `likely`, answers omit it.",
    );
    bare["default"] = "likely".into();
    let threshold = |what: &str| {
        json!({
            "type": "number",
            "nullable": true,
            "minimum": 0,
            "maximum": 1,
            "description": format!("From this score on, {what}."),
        })
    };
    match kind {
        "keyword" => (
            json!({
                "keywords": {
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "string", "minLength": 1, "maxLength": MAX_TERM_CHARS },
                    "description": "The words and phrases. Case, accents, look-alikes, spacing and the like make no difference.",
                },
                "matching": matching,
                "effect": effect,
            }),
            vec!["keywords", "effect"],
        ),
        "regex" => (
            json!({
                "pattern": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_PATTERN_CHARS,
                    "description": "A pattern in the syntax of Rust's `regex` crate. It is case-sensitive unless it contains \
                                    `(?i)`. It must not match the empty text.",
                },
                "effect": effect,
            }),
            vec!["pattern", "effect"],
        ),
        "link" => (
            json!({
                "policy": one_of(
                    "LinkPolicy",
                    "With `deny`, a text must not name these domains. With `allow`, it must not link to any \
                     other domains.",
                ),
                "domains": {
                    "type": "array",
                    "items": { "type": "string", "minLength": 1 },
                    "description": "Domains or IP addresses. A domain includes all names under it.",
                },
                "bare": bare,
                "effect": effect,
            }),
            vec!["policy", "domains", "effect"],
        ),
        "image_hash" => (
            json!({
                "lists": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_LISTS,
                    "uniqueItems": true,
                    "items": { "type": "string", "format": "uuid" },
                    "description": "Hash lists of the team, or shared ones. Each list says which kind it is, and by how \
                                    many bits an image may differ from its entries.",
                },
                "effect": effect,
            }),
            vec!["lists", "effect"],
        ),
        _ => (
            json!({
                "category": one_of("Category", "The category whose score counts."),
                "review_at": threshold("a person must review the content"),
                "reject_at": threshold("the content is rejected"),
            }),
            vec!["category"],
        ),
    }
}
