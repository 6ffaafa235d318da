//! What items say and what became of them: a text for each rule of a group of a hundred, and some that violate none, judged
//! by the real engine.

use domain::{
    decision::{Findings, Judged, Part, decide},
    id::{GroupVersionId, RuleGroupId},
    media::OnFailure,
    rule_file::InputFile,
    rules::{CompiledGroup, Content, Rule},
    score::{Category, Scores},
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::texts::Texts;

/// The group's name.
pub(super) const GROUP: &str = "House rules";

/// Rules of each kind, in the order of the group: words, patterns, links, scores. One more rule names a hash list.
const WORDS: usize = 60;
const PATTERNS: usize = 20;
const LINKS: usize = 11;
/// The rule that matches often, the one that matches once, and the one that never does.
const OFTEN: usize = 0;
const ONCE: usize = 79;
const NEVER: usize = 90;

/// Of a thousand items.
const SHARE_OF_OFTEN: u32 = 40;
const SHARE: u32 = 1;
/// Texts that violate no rule.
const CLEAN: usize = 10;
const SHARE_OF_CLEAN: u32 = 85;

/// Items that are alike.
#[derive(Debug, Serialize)]
pub(super) struct Kind {
    number: usize,
    /// Of a thousand items. 0: one item altogether.
    share: u32,
    body: String,
    scores: Scores,
    status: &'static str,
    moderation_type: &'static str,
    details: Value,
    trace: Value,
}

/// The group's rules.
pub(super) fn rules(list: Uuid) -> anyhow::Result<Vec<Rule>> {
    use std::fmt::Write as _;
    let mut yaml = format!("name: {GROUP}\nrules:\n");
    for n in 0..WORDS {
        writeln!(
            yaml,
            "  - {{name: Word {n}, type: keyword, keywords: [banned{n}x0, \"worse {n} phrase\"], effect: {}}}",
            effect(n)
        )?;
    }
    for n in 0..PATTERNS {
        writeln!(
            yaml,
            "  - {{name: Code {n}, type: regex, pattern: 'code-{n}-\\d{{4}}', effect: {}}}",
            effect(n)
        )?;
    }
    for n in 0..LINKS {
        writeln!(
            yaml,
            "  - {{name: Shop {n}, type: link, policy: deny, domains: [shop{n}.example], effect: {}}}",
            effect(n)
        )?;
    }
    for category in categories() {
        writeln!(
            yaml,
            "  - {{name: Much {category}, type: ai_threshold, category: {category}, review_at: 0.5, reject_at: 0.9}}"
        )?;
    }
    writeln!(
        yaml,
        "  - {{name: Known pictures, type: image_hash, lists: [{list}], effect: reject}}"
    )?;
    let given = InputFile::from_yaml(&yaml)?.rules;
    let rules = given.into_rules(|| Uuid::now_v7().into());
    Ok(rules.map_err(domain::rules::WrongRules::all_errors)?)
}

/// The categories that the rules ask for.
pub(super) fn categories() -> Vec<Category> {
    Category::ALL.to_vec()
}

/// Every third rule asks for a person.
const fn effect(number: usize) -> &'static str {
    if number % 3 == 1 { "review" } else { "reject" }
}

/// A text for each rule, and those that violate none.
pub(super) fn judge(group: RuleGroupId, rules: &[Rule], seed: u64) -> anyhow::Result<Vec<Kind>> {
    let version = GroupVersionId::from(Uuid::nil());
    let compiled = CompiledGroup::compile(group, version, rules)?;
    let texts = Texts::new(seed);
    let judge = |number: usize, share: u32, body: String, scores: Scores| -> anyhow::Result<Kind> {
        let content = Content {
            text: Some(&body),
            scores: &scores,
            image_matches: &[],
        };
        let wanted = categories();
        let verdict = decide(Findings {
            groups: vec![Judged {
                group,
                version,
                micros: 90,
            }],
            violations: compiled.examine(&content),
            scores: Some(scores),
            wanted: &wanted,
            gaps: &[],
            text: Part::Examined,
            image: Part::Absent,
            unchecked: Vec::new(),
            on_failure: OnFailure::Review,
        });
        Ok(Kind {
            number,
            share,
            status: verdict.status.as_str(),
            moderation_type: verdict.moderation_type.as_str(),
            details: serde_json::to_value(verdict.details(Some(120)))?,
            trace: serde_json::to_value(&verdict.trace)?,
            body,
            scores,
        })
    };
    let mut kinds = Vec::new();
    for n in 0..CLEAN {
        let bytes = [60, 120, 300, 900, 200][n % 5];
        let body = texts.plain(u64::try_from(n)?, bytes);
        kinds.push(judge(n, SHARE_OF_CLEAN, body, scores(None))?);
    }
    let scored = WORDS + PATTERNS + LINKS;
    for rule in (0..scored + Category::ALL.len()).filter(|rule| *rule != NEVER) {
        let share = match rule {
            OFTEN => SHARE_OF_OFTEN,
            ONCE => 0,
            _ => SHARE,
        };
        let found = match rule {
            0..WORDS => format!("banned{rule}x0"),
            _ if rule < WORDS + PATTERNS => format!("code-{}-1234", rule - WORDS),
            _ if rule < scored => format!("https://shop{}.example/buy", rule - WORDS - PATTERNS),
            _ => "as the provider says".to_owned(),
        };
        let body = format!(
            "{} {found} {}",
            texts.plain(u64::try_from(rule)?, 80),
            texts.plain(u64::try_from(rule)?, 60)
        );
        let category = rule.checked_sub(scored).and_then(|n| Category::ALL.get(n));
        kinds.push(judge(CLEAN + rule, share, body, scores(category.copied()))?);
    }
    Ok(kinds)
}

/// Low scores, except in this category.
fn scores(high: Option<Category>) -> Scores {
    let scored = Category::ALL.into_iter();
    scored
        .map(|category| {
            let score = if Some(category) == high { 0.7 } else { 0.02 };
            (category, score)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_violates_its_rule_and_the_clean_ones_none() {
        let rules = rules(Uuid::now_v7()).unwrap();
        assert_eq!(rules.len(), 100);
        let kinds = judge(Uuid::now_v7().into(), &rules, 1).unwrap();
        for kind in &kinds {
            let found = kind.trace["evidence"].as_array().unwrap();
            match kind.number.checked_sub(CLEAN) {
                None => assert!(found.is_empty(), "{kind:?}"),
                Some(rule) => {
                    let id = rules[rule].id.to_string();
                    assert!(
                        found.iter().any(|one| one["rule_id"] == id.as_str()),
                        "{kind:?}"
                    );
                }
            }
        }
        assert_eq!(kinds.iter().filter(|kind| kind.share == 0).count(), 1);
        let never = rules[NEVER].id.to_string();
        assert!(
            kinds
                .iter()
                .all(|kind| !kind.trace.to_string().contains(&never))
        );
    }
}
