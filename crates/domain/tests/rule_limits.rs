//! What a rule group may cost. One test reads the peak memory of the process, so each test runs in
//! a process of its own.

use std::{cell::Cell, fs, time::Duration};

use domain::rules::{CompiledGroup, Content, Limits, Rule, RuleBody, RuleErrors};
use domain::score::Scores;
use serde_json::{Value, json};
use uuid::Uuid;

fn rules(documents: impl IntoIterator<Item = Value>) -> Vec<Rule> {
    let bodies = documents
        .into_iter()
        .map(|document| serde_json::from_value::<RuleBody>(document).expect("a rule"));
    bodies
        .zip(0_u128..)
        .map(|(body, number)| body.into_rule(Uuid::from_u128(number).into()))
        .collect()
}

fn compile(documents: impl IntoIterator<Item = Value>) -> Result<CompiledGroup, RuleErrors> {
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules(documents))
}

fn regex(name: &str, pattern: &str) -> Value {
    json!({"name": name, "type": "regex", "pattern": pattern, "effect": "reject"})
}

fn keywords(count: usize, length: usize) -> Value {
    let keywords: Vec<String> = (0..count)
        .map(|number| {
            let first: Vec<char> = number.to_string().chars().rev().collect();
            first.into_iter().chain(['q'; 100]).take(length).collect()
        })
        .collect();
    json!({"name": "many words", "type": "keyword", "keywords": keywords, "effect": "reject"})
}

/// A rule whose exceptions are long and differ from their first letters on.
fn excused(number: usize) -> Value {
    let exceptions: Vec<String> = (0..1_000)
        .map(|at| {
            format!("{at:03}")
                .chars()
                .chain(['语'; 97])
                .collect::<String>()
        })
        .collect();
    json!({"name": format!("excused {number}"), "type": "keyword", "keywords": ["a"], "exceptions": exceptions,
        "effect": "reject"})
}

#[test]
fn case_36_what_needs_too_much_memory_is_refused_with_its_heaviest_rules() {
    for (documents, names) in [
        (vec![regex("letters", "\\w{190}"); 40], "`letters` ("),
        (vec![regex("letters", "\\w{190}"); 157], "`letters` ("),
        // Behind a literal, so that only the automata that find the place of a match are large.
        (vec![regex("mail", "spam\\w{190}"); 40], "`mail` ("),
        (
            vec![
                regex("small", "abc"),
                regex("large", "\\pL{50}"),
                regex("largest", "\\w{150}"),
            ]
            .into_iter()
            .cycle()
            .take(60)
            .collect(),
            "`largest` (",
        ),
        (vec![keywords(22_000, 100)], "`many words` ("),
        ((0..20).map(excused).collect(), "`excused "),
    ] {
        let errors = compile(documents).err().unwrap();
        assert!(errors.is_too_heavy(), "{errors}");
        let message = errors.to_string();
        for part in ["64 MiB", "The heaviest rules: ", names, "ASCII classes"] {
            assert!(message.contains(part), "{message}");
        }
    }
}

#[test]
fn case_36_large_groups_of_ordinary_rules_are_taken() {
    let word = |number: usize| -> String {
        let syllables = [
            "bra", "cle", "dou", "fin", "gor", "hai", "jul", "kem", "lon", "mip",
        ];
        let digits = number.to_string();
        digits
            .bytes()
            .map(|digit| syllables[usize::from(digit - b'0')])
            .collect()
    };
    let keywords = (0..1_000).map(|rule| {
        let keywords: Vec<String> = (0..10).map(|at| word(rule * 10 + at)).collect();
        json!({"name": "words", "type": "keyword", "keywords": keywords, "effect": "review"})
    });
    let regexes = (0..1_000).map(|number| {
        let (one, other) = (word(number), word(number + 1));
        regex(
            "r",
            &match number % 6 {
                0 => format!("(?i)\\b{one}(s|ed|ing)?\\b"),
                1 => format!("(?i){one}\\s+{other}"),
                2 => format!("(?i)https?://[a-z0-9.-]*{one}\\.(com|net|org)"),
                3 => format!("(?i)\\b\\w+{one}\\w*\\b"),
                4 => format!("(?i)\\b{one}\\b.{{0,20}}\\b{other}\\b"),
                // Without a literal.
                _ => "\\b\\d{3}[ -]?\\d{3}[aeiou4@]\\d{4}\\b".to_owned(),
            },
        )
    });
    let group = compile(keywords.chain(regexes)).unwrap();
    assert!(group.approx_bytes() <= Limits::default().bytes);
    let text = format!("well, {} 123-456a7890", word(7));
    let content = Content {
        text: Some(&text),
        scores: &Scores::default(),
        image_matches: &[],
    };
    assert!(!group.examine(&content).is_empty());
    assert!(compile([self::keywords(30_000, 12)]).is_ok());
}

#[test]
fn case_36_compiling_stops_soon_after_its_time_is_up() {
    let looks = Cell::new(0);
    let clock = || {
        looks.set(looks.get() + 1);
        Duration::from_millis(looks.get())
    };
    let limits = Limits {
        time: Duration::from_millis(50),
        ..Limits::default()
    };
    let nil = Uuid::nil();
    for documents in [
        vec![regex("r", "a\\w{3}b"); 500],
        vec![keywords(20_000, 8)],
        vec![
            json!({"name": "l", "type": "link", "policy": "deny", "effect": "reject",
            "domains": (0..20_000).map(|n| format!("shop{n}.example.com")).collect::<Vec<_>>()}),
        ],
    ] {
        looks.set(0);
        let rules = rules(documents);
        let errors = CompiledGroup::compile_within(nil.into(), nil.into(), &rules, limits, &clock);
        let errors = errors.err().unwrap();
        assert!(errors.is_too_heavy(), "{errors}");
        assert!(errors.to_string().contains("0.05 s to compile"), "{errors}");
        assert_eq!(looks.get(), 52, "nothing is done after the time is up");
    }
}

#[test]
fn case_36_refusing_a_heavy_group_takes_little_memory_itself() {
    let peak = || -> Option<usize> {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    };
    let Some(before) = peak() else {
        // Not on Linux.
        return;
    };
    for documents in [
        vec![regex("r", "\\w{190}"); 157],
        vec![regex("r", "spam\\w{190}"); 157],
        vec![keywords(22_000, 100)],
        (0..30).map(excused).collect(),
    ] {
        assert!(compile(documents).is_err());
    }
    let grown = peak().unwrap() - before;
    assert!(grown < 3 * (64 << 10), "{grown} KiB");
}
