//! Rules and texts that are made to cost time.

use serde_json::{Value, json};

use super::{compile, examine, names};
use crate::rules::MAX_RULES;

#[test]
fn case_33_patterns_that_are_too_large_are_refused_at_their_place_and_catastrophic_ones_taken() {
    let refused = |pattern: &str| {
        let rule = json!({"name": "r", "type": "regex", "pattern": pattern, "effect": "reject"});
        compile(json!([rule]))
            .err()
            .map(|errors| errors.iter().next().unwrap().position)
    };
    for (pattern, place) in [
        ("x(a{1,1000}){1,1000}", 12),
        ("(.{500}){500}", 8),
        ("\\w{900}", 2),
        ("[ab]{1001}", 4),
        ("((((a{99}){99}){99}){99}){99}", 25),
    ] {
        assert_eq!(refused(pattern), Some(Some(place)), "{pattern}");
    }
    for pattern in [
        "(a+)+$",
        "(a|a)*b",
        "(.*)*(.*)*x",
        "(x+x+)+y",
        "(?i)(a|b)*a(a|b){200}c",
    ] {
        assert_eq!(refused(pattern), None, "{pattern}");
    }
}

#[test]
fn case_33_ten_thousand_rules_find_the_end_of_the_longest_text() {
    let rules: Vec<Value> = (0..MAX_RULES)
        .map(|number| match number % 20 {
            0 => json!({"name": format!("r{number}"), "type": "regex", "effect": "reject",
                "pattern": format!("(a+)+{number}$")}),
            1 => json!({"name": format!("k{number}"), "type": "keyword", "effect": "reject",
                "keywords": [format!("word {number}")]}),
            2 => json!({"name": format!("s{number}"), "type": "keyword", "matching": "substring", "effect": "reject",
                "keywords": [format!("part{number}part")], "exceptions": [format!("part{number}part!")]}),
            _ => json!({"name": format!("l{number}"), "type": "keyword", "effect": "reject",
                "keywords": [format!("b{number}lock")]}),
        })
        .collect();
    let group = compile(json!(rules)).unwrap();
    let text = format!(
        "{} b33lock part42part part62part! w.o.r.d 9981 a9980",
        "a1 b.".repeat(20_000)
    );
    assert_eq!(names(&group, &text), ["l33", "s42", "r9980", "k9981"]);
}

/// It ends, which backtracking would not. Quadratic time is measured where texts are read.
#[test]
fn case_33_texts_and_rules_made_to_cost_time_are_examined_in_linear_time() {
    const LENGTH: usize = 10_000;
    let nested: Vec<String> = (1..=100).map(|n| "a".repeat(n)).collect();
    let excused: Vec<Value> = (0..100)
        .map(|n| {
            json!({"name": format!("e{n}"), "type": "keyword", "keywords": ["a"], "matching": "substring",
                "exceptions": ["aaaaaaaaaa"], "effect": "reject"})
        })
        .collect();
    let texts = [
        "a",
        "1 ",
        "a b ",
        "a!",
        "e\u{301}",
        "\u{1112}\u{1161}\u{11AB}",
        "aa aaa ",
    ]
    .map(|part| part.repeat(LENGTH / part.len()));
    for rules in [
        json!([{"name": "k", "type": "keyword", "keywords": nested, "effect": "reject"}]),
        json!(excused),
        json!([{"name": "r", "type": "regex", "pattern": "(a|aa)+$|(a*)*b", "effect": "reject"}]),
        json!([{"name": "r", "type": "regex", "pattern": "(x+x+)+y|(a|b)*a(a|b){50}c", "effect": "reject"}]),
    ] {
        let group = compile(rules).unwrap();
        for text in &texts {
            examine(&group, text);
        }
    }
}
