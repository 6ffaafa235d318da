//! Ordinary sentences in ten languages, written for this test: digits, units, abbreviations, names of files
//! and products, addresses, and words of other scripts among them. No keyword and no link is found in any
//! of them.

use domain::rules::{CompiledGroup, Content, Evidence, RuleBody};
use domain::score::Scores;
use serde_json::{Value, json};
use uuid::Uuid;

const SENTENCES: [(&str, &str); 10] = [
    ("Arabic", include_str!("quality/harmless/arabic.txt")),
    ("Chinese", include_str!("quality/harmless/chinese.txt")),
    ("English", include_str!("quality/harmless/english.txt")),
    ("French", include_str!("quality/harmless/french.txt")),
    ("German", include_str!("quality/harmless/german.txt")),
    ("Greek", include_str!("quality/harmless/greek.txt")),
    ("Japanese", include_str!("quality/harmless/japanese.txt")),
    ("Korean", include_str!("quality/harmless/korean.txt")),
    ("Russian", include_str!("quality/harmless/russian.txt")),
    ("Spanish", include_str!("quality/harmless/spanish.txt")),
];
const KEYWORDS: &str = include_str!("quality/harmless/keywords.txt");
/// More words of block lists, mostly English.
const TERMS: &str = include_str!("quality/terms.txt");

fn rows(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
}

/// A group with a rule for each document.
fn group(documents: impl Iterator<Item = Value>) -> CompiledGroup {
    let rules: Vec<_> = documents
        .zip(0_u128..)
        .map(|(document, number)| {
            let body: RuleBody = serde_json::from_value(document).expect("it is a rule's document");
            body.into_rule(Uuid::from_u128(number).into())
        })
        .collect();
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
        .expect("the rules are good")
}

/// The sentences in which a rule of a group finds something, and what it finds.
fn harmed(group: &CompiledGroup) -> Vec<String> {
    let sentences = SENTENCES
        .iter()
        .flat_map(|(language, file)| rows(file).map(move |sentence| (language, sentence)));
    let found = sentences.filter_map(|(language, sentence)| {
        let violations = group.examine(&Content {
            text: Some(sentence),
            scores: &Scores::new(),
            image_matches: &[],
        });
        let places: Vec<_> = violations
            .iter()
            .map(|violation| match &violation.evidence {
                Evidence::Text { span, .. } => (&violation.rule_name, &sentence[span.clone()]),
                evidence => panic!("{evidence:?}"),
            })
            .collect();
        (!places.is_empty()).then(|| format!("{language}: {sentence} {places:?}"))
    });
    found.collect()
}

#[test]
fn no_keyword_is_found() {
    // Ordinary words in French and Spanish.
    let terms = rows(TERMS).filter(|term| !["con", "tard"].contains(term));
    let keywords: Vec<&str> = rows(KEYWORDS).chain(terms).collect();
    let rules = keywords.iter().map(
        |keyword| json!({"name": keyword, "type": "keyword", "keywords": [keyword], "effect": "reject"}),
    );
    let harmed = harmed(&group(rules));
    assert!(
        harmed.is_empty(),
        "{}:\n{}",
        harmed.len(),
        harmed.join("\n")
    );
}

#[test]
fn no_link_is_found() {
    let rule = json!({"name": "links", "type": "link", "policy": "allow", "effect": "reject",
        "domains": ["example.com", "example.org"]});
    let harmed = harmed(&group(std::iter::once(rule)));
    assert!(
        harmed.is_empty(),
        "{}:\n{}",
        harmed.len(),
        harmed.join("\n")
    );
}

#[test]
fn there_are_two_hundred_sentences_of_each_language() {
    for (language, file) in SENTENCES {
        let sentences: std::collections::BTreeSet<_> = rows(file).collect();
        assert!(sentences.len() >= 200, "{language}: {}", sentences.len());
    }
    assert!(rows(KEYWORDS).count() >= 250);
}
