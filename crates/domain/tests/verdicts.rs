//! Rules, texts and the verdicts that they must get, from public reports of people who moderate, and more
//! of each kind. `docs/quality.md` has the figures. With `-- --ignored --nocapture` its table is printed.

use std::collections::BTreeMap;

use domain::rules::{CompiledGroup, Content, RuleBody};
use domain::score::Scores;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

const LINES: &str = include_str!("quality/verdicts.jsonl");

#[derive(Deserialize)]
struct Line {
    kind: String,
    /// Without name and effect.
    rule: Value,
    text: String,
    want: Want,
    why: String,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Want {
    Rejected,
    Approved,
}

fn lines() -> Vec<Line> {
    let lines = LINES.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn verdict(line: &Line) -> Want {
    let mut rule = line.rule.clone();
    rule["name"] = json!("rule");
    rule["effect"] = json!("reject");
    let body: RuleBody = serde_json::from_value(rule).expect("it is a rule's document");
    let rules = [body.into_rule(Uuid::nil().into())];
    let group = CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
        .expect("it is a rule");
    let violations = group.examine(&Content {
        text: Some(&line.text),
        scores: &Scores::new(),
        image_matches: &[],
    });
    if violations.is_empty() {
        Want::Approved
    } else {
        Want::Rejected
    }
}

#[test]
fn every_text_gets_its_verdict() {
    let lines = lines();
    let wrong: Vec<String> = lines
        .iter()
        .filter(|line| verdict(line) != line.want)
        .map(|line| {
            format!(
                "{}: {:?} should be {:?} for {}: {}",
                line.kind, line.text, line.want, line.rule, line.why
            )
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        lines.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_corpus_is_as_large_as_the_documentation_says() {
    let lines = lines();
    let approved = lines
        .iter()
        .filter(|line| line.want == Want::Approved)
        .count();
    assert!(
        lines.len() >= 300 && approved >= 100,
        "{} {approved}",
        lines.len()
    );
}

#[test]
#[ignore = "prints the table of docs/quality.md"]
fn table() {
    let mut kinds: BTreeMap<String, [usize; 4]> = BTreeMap::new();
    for line in lines() {
        let [to_reject, rejected, to_approve, approved] =
            kinds.entry(line.kind.clone()).or_default();
        let is_right = usize::from(verdict(&line) == line.want);
        match line.want {
            Want::Rejected => (*to_reject, *rejected) = (*to_reject + 1, *rejected + is_right),
            Want::Approved => (*to_approve, *approved) = (*to_approve + 1, *approved + is_right),
        }
    }
    println!("| kind | to reject | rejected | to approve | approved |\n|---|---|---|---|---|");
    for (kind, [to_reject, rejected, to_approve, approved]) in kinds {
        println!("| {kind} | {to_reject} | {rejected} | {to_approve} | {approved} |");
    }
}
