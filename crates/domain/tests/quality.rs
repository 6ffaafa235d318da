//! How well keywords are found behind disguises, and where they must not be found. The figures of
//! `docs/quality.md` come from here: `cargo test --package gatehouse-domain --test quality --
//! --ignored --nocapture`.

#[path = "quality/techniques.rs"]
mod techniques;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use domain::rules::{CompiledGroup, Content, RuleBody};
use domain::score::Scores;
use serde_json::json;
use uuid::Uuid;

use techniques::{CARRIERS, TECHNIQUES, TERMS};

const BY_HAND: &str = include_str!("quality/evasion.tsv");
const FALSE_FRIENDS: &str = include_str!("quality/false-friends.txt");
/// Ordinary lines in which a term is found anyway: it is a word of its own there, or reads like
/// one.
const FALSE_ALARMS: &str = include_str!("quality/false-alarms.txt");
const FRIENDS_TERMS: &str = include_str!("quality/terms.txt");
/// For each technique, the lowest percentage of its lines that must be found. If a figure rises,
/// raise it here.
const FLOORS: &str = include_str!("quality/floors.tsv");

/// A disguised term.
struct Line {
    technique: String,
    term: String,
    text: String,
}

fn rows(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("# "))
}

fn by_hand() -> Vec<Line> {
    rows(BY_HAND)
        .map(|row| {
            let [technique, term, text] = row.splitn(3, '\t').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            Line {
                technique: format!("by hand: {technique}"),
                term: term.to_owned(),
                text: text.to_owned(),
            }
        })
        .collect()
}

fn generated() -> Vec<Line> {
    TECHNIQUES
        .iter()
        .flat_map(|technique| {
            TERMS.iter().enumerate().filter_map(|(nth, term)| {
                let disguised = (technique.disguise)(term, nth);
                let (before, after) = CARRIERS[nth % CARRIERS.len()];
                let line = Line {
                    technique: technique.name.to_owned(),
                    term: (*term).to_owned(),
                    text: format!("{before}{disguised}{after}"),
                };
                (disguised != *term).then_some(line)
            })
        })
        .collect()
}

fn group(terms: &[&str]) -> CompiledGroup {
    let rules: Vec<_> = terms
        .iter()
        .enumerate()
        .map(|(number, term)| {
            let body: RuleBody = serde_json::from_value(
                json!({"name": term, "type": "keyword", "keywords": [term], "effect": "reject"}),
            )
            .expect("it is a rule's document");
            body.into_rule(Uuid::from_u128(number as u128).into())
        })
        .collect();
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
        .expect("the terms are keywords")
}

/// The terms that are found in a text.
fn found(group: &CompiledGroup, text: &str) -> Vec<String> {
    let violations = group.examine(&Content {
        text: Some(text),
        scores: &Scores::new(),
        image_matches: &[],
    });
    violations
        .into_iter()
        .map(|violation| violation.rule_name)
        .collect()
}

/// For each technique: lines, found lines, and missed ones.
type Recall = BTreeMap<String, (usize, usize, Vec<String>)>;

fn recall() -> Recall {
    let lines: Vec<Line> = by_hand().into_iter().chain(generated()).collect();
    let mut terms: Vec<&str> = lines.iter().map(|line| line.term.as_str()).collect();
    terms.sort_unstable();
    terms.dedup();
    let group = group(&terms);
    let mut recall = Recall::new();
    for line in &lines {
        let (all, hits, missed) = recall.entry(line.technique.clone()).or_default();
        *all += 1;
        if found(&group, &line.text).contains(&line.term) {
            *hits += 1;
        } else {
            missed.push(format!("{}: {}", line.term, line.text));
        }
    }
    recall
}

const fn percent(hits: usize, all: usize) -> usize {
    hits * 100 / all
}

#[test]
fn disguises_are_seen_through_as_often_as_ever() {
    let floors: BTreeMap<&str, usize> = rows(FLOORS)
        .filter_map(|row| row.split_once('\t'))
        .map(|(technique, floor)| (technique, floor.parse().unwrap()))
        .collect();
    let recall = recall();
    assert_eq!(
        floors.keys().collect::<Vec<_>>(),
        recall.keys().collect::<Vec<_>>(),
        "every technique has its floor"
    );
    for (technique, (all, hits, missed)) in &recall {
        let reached = percent(*hits, *all);
        assert!(
            reached >= floors[technique.as_str()],
            "{technique}: only {reached} %, missed:\n{}",
            missed.join("\n")
        );
    }
}

#[test]
fn false_friends_are_left_alone() {
    let terms: Vec<&str> = rows(FRIENDS_TERMS).collect();
    let group = group(&terms);
    let harmed: Vec<String> = rows(FALSE_FRIENDS)
        .filter_map(|line| {
            let terms = found(&group, line);
            (!terms.is_empty()).then(|| format!("{terms:?}: {line}"))
        })
        .collect();
    assert!(
        harmed.is_empty(),
        "{} lines:\n{}",
        harmed.len(),
        harmed.join("\n")
    );
}

#[test]
fn known_false_alarms_are_still_some() {
    let terms: Vec<&str> = rows(FRIENDS_TERMS).collect();
    let group = group(&terms);
    for line in rows(FALSE_ALARMS) {
        assert!(
            !found(&group, line).is_empty(),
            "no false alarm any more, so it belongs among the false friends: {line}"
        );
    }
}

#[test]
fn the_corpora_are_as_large_as_the_documentation_says() {
    assert!(
        by_hand().len() >= 270 && generated().len() >= 700 && rows(FALSE_FRIENDS).count() >= 300
    );
}

#[test]
#[ignore = "prints the tables of docs/quality.md and the floors"]
fn table() {
    let mut table =
        String::from("| technique | lines | found | missed, for example |\n|---|---|---|---|\n");
    let mut floors = String::new();
    for (technique, (all, hits, missed)) in recall() {
        let example = missed
            .first()
            .map_or_else(String::new, |missed| missed.replace('|', "\\|"));
        writeln!(
            table,
            "| {technique} | {all} | {} % | {example} |",
            percent(hits, all)
        )
        .unwrap();
        writeln!(floors, "{technique}\t{}", percent(hits, all)).unwrap();
    }
    println!("{table}\n{floors}");
}
