//! Groups from definition to violations.

use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::rules::{Evidence, RuleBody, RuleType, View};

fn compile(bodies: Value) -> Result<CompiledGroup, RuleErrors> {
    let bodies: Vec<RuleBody> = serde_json::from_value(bodies).unwrap();
    let rules: Vec<Rule> = bodies
        .into_iter()
        .enumerate()
        .map(|(at, body)| body.into_rule(Uuid::from_u128(at as u128).into()))
        .collect();
    CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules)
}

fn examine(group: &CompiledGroup, text: &str) -> Vec<Violation> {
    group.examine(&Content {
        text: Some(text),
        scores: &Scores::new(),
        image_matches: &[],
    })
}

fn names(group: &CompiledGroup, text: &str) -> Vec<String> {
    examine(group, text)
        .into_iter()
        .map(|violation| violation.rule_name)
        .collect()
}

#[test]
fn each_rule_answers_once_in_the_order_of_the_group() {
    let group = compile(json!([
        {"name": "c", "type": "regex", "pattern": "review-\\d{4}", "effect": "review"},
        {"name": "t", "type": "ai_threshold", "category": "hate", "review_at": 0.5, "reject_at": 0.9},
        {"name": "a", "type": "keyword", "keywords": ["blockedword", "other"], "effect": "reject"},
        {"name": "off", "enabled": false, "type": "keyword", "keywords": ["other"], "effect": "reject"},
        {"name": "b", "type": "keyword", "keywords": ["LOCK"], "matching": "substring", "effect": "review"},
    ]))
    .unwrap();
    let scores = [(Category::Hate, 0.95)].into_iter().collect();
    let text = "Other Bl0ckedWord, blockedword: review-1234, review-9999";
    let found = group.examine(&Content {
        text: Some(text),
        scores: &scores,
        image_matches: &[],
    });
    let told: Vec<_> = found
        .iter()
        .map(|v| (v.rule_name.as_str(), v.rule_type, v.effect, v.confidence))
        .collect();
    assert_eq!(
        told,
        [
            ("c", RuleType::Regex, RuleEffect::Review, 1.0),
            ("t", RuleType::AiThreshold, RuleEffect::Reject, 0.95),
            ("a", RuleType::Keyword, RuleEffect::Reject, 1.0),
            ("b", RuleType::Keyword, RuleEffect::Review, 1.0),
        ]
    );
    assert_eq!(found[0].matched_text.as_deref(), Some("r*********4"));
    assert_eq!(found[1].matched_text, None);
    assert!(group.uses_ai() && group.examines_text());
    assert_eq!(group.categories(), [Category::Hate]);
}

#[test]
fn a_violation_says_where_it_was_found_in_the_original() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["blockedword"], "effect": "reject"},
    ]))
    .unwrap();
    for (text, place, view) in [
        (
            "so: bl\u{200B}öckedword",
            "bl\u{200B}öckedword",
            View::Folded,
        ),
        (
            "é b.l.o.c.k.e.d.w.o.r.d.",
            "b.l.o.c.k.e.d.w.o.r.d",
            View::Loose,
        ),
        ("é bl0ckedwоrd!", "bl0ckedwоrd", View::Loose),
    ] {
        let found = examine(&group, text);
        let Evidence::Text {
            view: seen, span, ..
        } = &found[0].evidence
        else {
            panic!("{text}")
        };
        assert_eq!((&text[span.clone()], *seen), (place, view));
        let masked = found[0].matched_text.as_deref().unwrap();
        assert_eq!(masked, crate::text::mask(place));
    }
}

#[test]
fn exceptions_excuse_only_what_lies_within_them() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["ass"], "matching": "substring",
         "exceptions": ["class", "Ässess", "harass"], "effect": "reject"},
        {"name": "r", "type": "regex", "pattern": "\\d{4}", "exceptions": ["since 1999"], "effect": "review"},
    ]))
    .unwrap();
    for (text, expected) in [
        ("a first-class CLÁSS, assessed", &[] as &[&str]),
        ("classy ass", &["k"]),
        ("hass", &["k"]),
        ("mass class", &["k"]),
        ("Since 1999", &[]),
        ("since 1999, until 2001", &["r"]),
        ("não: since\u{200B} 1999", &[]),
    ] {
        assert_eq!(names(&group, text), expected, "{text}");
    }
}

#[test]
fn matches_beyond_what_exceptions_are_held_against_count() {
    let group = compile(json!([
        {"name": "k", "type": "keyword", "keywords": ["a"], "matching": "substring",
         "exceptions": ["aa"], "effect": "reject"},
    ]))
    .unwrap();
    assert_eq!(names(&group, &"a".repeat(100_000)), [""; 0]);
    assert_eq!(names(&group, &"a".repeat(100_001)), ["k"]);
}

#[test]
fn what_is_absent_violates_nothing() {
    let group = compile(json!([
        {"name": "t", "type": "ai_threshold", "category": "hate", "review_at": 0.0},
        {"name": "k", "type": "keyword", "keywords": ["a"], "effect": "reject"},
    ]))
    .unwrap();
    let scores = [(Category::Adult, 1.0)].into_iter().collect();
    assert_eq!(
        group.examine(&Content {
            text: None,
            scores: &scores,
            image_matches: &[],
        }),
        []
    );
    assert_eq!(names(&group, ""), [""; 0]);
}

#[test]
fn an_empty_or_disabled_group_examines_nothing() {
    let group = compile(json!([
        {"name": "t", "enabled": false, "type": "ai_threshold", "category": "hate", "review_at": 0.1},
        {"name": "r", "enabled": false, "type": "regex", "pattern": ".", "effect": "reject"},
    ]))
    .unwrap();
    assert!(!group.uses_ai() && !group.examines_text());
    assert_eq!(names(&group, "anything"), [""; 0]);
}

#[test]
fn faults_name_the_rule_the_field_and_the_place() {
    let regex = |pattern: &str| json!({"name": "r", "type": "regex", "pattern": pattern, "effect": "reject"});
    let threshold = |review: Value, reject: Value| json!({"name": "t", "type": "ai_threshold", "category": "spam", "review_at": review, "reject_at": reject});
    let keyword = |keywords: Value| json!({"name": "k", "type": "keyword", "keywords": keywords, "effect": "reject"});
    for (rule, field, message, position) in [
        (regex("ä(b"), "pattern", "unclosed group", Some(1)),
        (regex("a{2,1}"), "pattern", "invalid repetition", Some(1)),
        (regex("(?=a)b"), "pattern", "look-around", Some(0)),
        (regex("(a)\\1"), "pattern", "backreferences", Some(3)),
        (regex("a*"), "pattern", "empty text", None),
        (regex("a\0"), "pattern", "U+0000", Some(1)),
        (keyword(json!(["a\0"])), "keywords[0]", "U+0000", None),
        (
            json!({"name": "a\0", "type": "keyword", "keywords": ["a"], "effect": "reject"}),
            "name",
            "U+0000",
            None,
        ),
        (regex("^"), "pattern", "empty text", None),
        (regex("[^\\s\\S]"), "pattern", "never match", None),
        (
            regex("((a{1,1000}){1,1000}){1,1000}"),
            "pattern",
            "too large",
            Some(21),
        ),
        (regex("\\w{1000}"), "pattern", "ASCII classes", Some(2)),
        (regex("[ab]{1001}"), "pattern", "positions", Some(4)),
        (regex(&"a".repeat(2_001)), "pattern", "at most", None),
        (
            regex(&format!("{}a{}", "(".repeat(60), ")".repeat(60))),
            "pattern",
            "nest",
            Some(50),
        ),
        (
            threshold(Value::Null, Value::Null),
            "review_at",
            "required",
            None,
        ),
        (threshold(json!(0.9), json!(0.5)), "review_at", "over", None),
        (
            threshold(json!(1.1), Value::Null),
            "review_at",
            "from 0 to 1",
            None,
        ),
        (
            threshold(Value::Null, json!(-0.1)),
            "reject_at",
            "from 0 to 1",
            None,
        ),
        (keyword(json!([])), "keywords", "at least one", None),
        (
            keyword(json!(["ok", " \u{200B}"])),
            "keywords[1]",
            "visible",
            None,
        ),
        (
            keyword(json!(["x".repeat(101)])),
            "keywords[0]",
            "at most",
            None,
        ),
        (
            json!({"name": " ", "type": "keyword", "keywords": ["x"], "effect": "reject"}),
            "name",
            "1 to",
            None,
        ),
        (
            json!({"name": "t", "type": "ai_threshold", "category": "spam", "review_at": 0.5, "exceptions": ["x"]}),
            "exceptions",
            "no exceptions",
            None,
        ),
        (
            json!({"name": "k", "type": "keyword", "keywords": ["x"], "effect": "reject", "exceptions": [""]}),
            "exceptions[0]",
            "visible",
            None,
        ),
    ] {
        let good = keyword(json!(["fine"]));
        let errors = compile(json!([good, rule]))
            .err()
            .unwrap_or_else(|| panic!("{rule}"));
        let error = errors.iter().next().unwrap();
        assert_eq!(
            (error.rule, error.field.as_str()),
            (Some(1), field),
            "{error}"
        );
        assert_eq!(error.name, rule["name"].as_str().unwrap());
        assert!(error.message.contains(message), "{error}");
        assert_eq!(error.position, position, "{error}");
    }
}

#[test]
fn all_faults_are_listed_up_to_a_readable_number() {
    let wrong = json!({"name": "", "type": "regex", "pattern": "(", "effect": "reject"});
    assert_eq!(
        compile(json!([wrong, wrong])).err().unwrap().iter().count(),
        4
    );
    let many = vec![wrong; 500];
    assert_eq!(
        compile(json!(many)).err().unwrap().iter().count(),
        RuleErrors::MOST
    );
}

#[test]
fn a_group_has_limits() {
    let fault = |rules: Vec<Value>| compile(json!(rules)).err().unwrap().to_string();
    let regex = json!({"name": "r", "type": "regex", "pattern": "x", "effect": "reject"});
    assert!(fault(vec![regex; MAX_PATTERNS + 1]).contains("regex rules"));
    let large = json!({"name": "r", "type": "regex", "pattern": "x{1000}", "effect": "reject"});
    assert!(fault(vec![large; 31]).contains("the patterns together"));
    let threshold =
        json!({"name": "t", "type": "ai_threshold", "category": "spam", "review_at": 1.0});
    assert!(fault(vec![threshold; MAX_RULES + 1]).contains("at most 10000 rules"));
    let keywords: Vec<String> = (0..=MAX_KEYWORDS).map(|n| format!("word{n}")).collect();
    let keyword = json!({"name": "k", "type": "keyword", "keywords": keywords, "effect": "reject"});
    assert!(fault(vec![keyword]).contains("keywords"));
}

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

/// It ends, which backtracking would not. What is quadratic is counted where texts are read.
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

proptest! {
    #[test]
    fn any_text_is_examined_places_are_on_character_boundaries_and_masks_hide_them(text in "(\\PC|[a-c1!. ]){0,60}") {
        let group = compile(json!([
            {"name": "s", "type": "keyword", "keywords": ["a", "b", "ab"], "matching": "substring",
             "exceptions": ["bab"], "effect": "reject"},
            {"name": "w", "type": "keyword", "keywords": ["abc", "bca", "a b"], "effect": "reject"},
            {"name": "r", "type": "regex", "pattern": "\\w.", "exceptions": ["ab"], "effect": "review"},
        ])).unwrap();
        for violation in examine(&group, &text) {
            let Evidence::Text { span, .. } = violation.evidence else { unreachable!() };
            let part = text.get(span).unwrap_or_default();
            prop_assert!(!part.is_empty());
            let length = part.chars().count();
            let masked: Vec<char> = violation.matched_text.unwrap_or_default().chars().collect();
            prop_assert_eq!(masked.len(), length);
            let shown = if length < 4 { 0..length } else { 1..length - 1 };
            prop_assert!(masked[shown].iter().all(|c| *c == '*'), "{:?} shows {:?}", masked, part);
        }
    }
}
