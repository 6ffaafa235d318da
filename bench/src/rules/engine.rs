//! The engines: our rules, and the loop over single regular expressions.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use domain::{
    rules::{CompiledGroup, Content, Rule, RuleBody},
    score::Scores,
};
use regex::Regex;
use serde_json::{Value, json};
use uuid::Uuid;

use super::patterns::Patterns;

/// A group has no more rules than 10,000, so keywords share rules.
const KEYWORDS_PER_RULE: usize = 10;

/// Searches a text for all patterns, and counts those that it finds.
pub(super) trait Engine {
    fn matches(&self, text: &str) -> usize;
}

/// Searches all texts once. Returns how long it took, and how many matches there were.
pub(super) fn measure(engine: &impl Engine, texts: &[String]) -> (Duration, usize) {
    let started = Instant::now();
    let found = texts.iter().map(|text| engine.matches(text)).sum();
    (started.elapsed(), found)
}

impl Engine for CompiledGroup {
    fn matches(&self, text: &str) -> usize {
        let content = Content {
            text: Some(text),
            scores: &Scores::default(),
            image_matches: &[],
        };
        self.examine(&content).len()
    }
}

impl Engine for Vec<Regex> {
    fn matches(&self, text: &str) -> usize {
        self.iter().filter(|regex| regex.is_match(text)).count()
    }
}

/// Our rules, and how long they took to compile.
pub(super) fn ours(patterns: &Patterns) -> anyhow::Result<(CompiledGroup, Duration)> {
    let keywords = patterns.keywords.chunks(KEYWORDS_PER_RULE).map(|keywords| {
        json!({"name": "keywords", "type": "keyword", "keywords": keywords, "effect": "review"})
    });
    let regexes = patterns.regexes.iter().map(
        |pattern| json!({"name": "regex", "type": "regex", "pattern": pattern, "effect": "review"}),
    );
    group(keywords.chain(regexes))
}

/// A group of the rules in documents, and how long it took to compile.
pub(super) fn group(
    documents: impl Iterator<Item = Value>,
) -> anyhow::Result<(CompiledGroup, Duration)> {
    let rules: Vec<Rule> = documents
        .zip(0_u128..)
        .map(|(document, number)| {
            let body: RuleBody = serde_json::from_value(document)?;
            Ok(body.into_rule(Uuid::from_u128(number).into()))
        })
        .collect::<serde_json::Result<_>>()?;
    let started = Instant::now();
    let group = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)?;
    Ok((group, started.elapsed()))
}

/// The loop over single ones, and how long they took to compile.
pub(super) fn single(patterns: &[String]) -> anyhow::Result<(Vec<Regex>, Duration)> {
    let started = Instant::now();
    let regexes = patterns
        .iter()
        .map(|pattern| Regex::new(pattern))
        .collect::<Result<Vec<_>, _>>();
    Ok((
        regexes.context("the patterns are in the syntax of the crate `regex`")?,
        started.elapsed(),
    ))
}

/// All patterns as regular expressions: a keyword is a whole word in any case.
pub(super) fn as_regexes(patterns: &Patterns) -> Vec<String> {
    let keywords = patterns
        .keywords
        .iter()
        .map(|keyword| format!(r"(?i)\b{keyword}\b"));
    keywords.chain(patterns.regexes.iter().cloned()).collect()
}
