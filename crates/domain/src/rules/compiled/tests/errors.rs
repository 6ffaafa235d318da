//! Mistakes in rules are reported with the rule, the member and the place.

use serde_json::{Value, json};

use super::compile;
use crate::rules::{MAX_KEYWORDS, MAX_PATTERNS, MAX_RULES, RuleErrors};

/// A rule with a mistake, and what is said of it: the member, a part of the message, the position.
type Mistake = (Value, &'static str, &'static str, Option<usize>);

/// Each is reported for the second rule, by its name.
fn are_told(mistakes: impl IntoIterator<Item = Mistake>) {
    for (rule, field, message, position) in mistakes {
        let good = keyword(&json!(["fine"]));
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

fn keyword(keywords: &Value) -> Value {
    json!({"name": "k", "type": "keyword", "keywords": keywords, "effect": "reject"})
}

#[test]
fn a_fault_of_a_pattern_names_the_rule_and_the_place() {
    let regex = |pattern: &str| json!({"name": "r", "type": "regex", "pattern": pattern, "effect": "reject"});
    let nested = format!("{}a{}", "(".repeat(60), ")".repeat(60));
    are_told([
        (regex("ä(b"), "pattern", "unclosed group", Some(1)),
        (regex("a{2,1}"), "pattern", "invalid repetition", Some(1)),
        (regex("(?=a)b"), "pattern", "look-around", Some(0)),
        (regex("(a)\\1"), "pattern", "backreferences", Some(3)),
        (regex("a*"), "pattern", "empty text", None),
        (regex("a\0"), "pattern", "U+0000", Some(1)),
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
        (regex(&nested), "pattern", "nest", Some(50)),
    ]);
}

#[test]
fn a_fault_of_a_threshold_names_the_rule_and_the_member() {
    let threshold = |review: Value, reject: Value| json!({"name": "t", "type": "ai_threshold", "category": "spam", "review_at": review, "reject_at": reject});
    are_told([
        (
            threshold(Value::Null, Value::Null),
            "review_at",
            "required",
            None,
        ),
        (
            threshold(json!(0.9), json!(0.5)),
            "review_at",
            "greater",
            None,
        ),
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
        (
            json!({"name": "t", "type": "ai_threshold", "category": "spam", "review_at": 0.5, "exceptions": ["x"]}),
            "exceptions",
            "no exceptions",
            None,
        ),
    ]);
}

#[test]
fn a_fault_of_a_keyword_or_a_name_names_the_rule_and_the_entry() {
    are_told([
        (keyword(&json!(["a\0"])), "keywords[0]", "U+0000", None),
        (keyword(&json!([])), "keywords", "at least one", None),
        (
            keyword(&json!(["ok", " \u{200B}"])),
            "keywords[1]",
            "visible",
            None,
        ),
        (
            keyword(&json!(["x".repeat(101)])),
            "keywords[0]",
            "at most",
            None,
        ),
        (
            json!({"name": "a\0", "type": "keyword", "keywords": ["a"], "effect": "reject"}),
            "name",
            "U+0000",
            None,
        ),
        (
            json!({"name": " ", "type": "keyword", "keywords": ["x"], "effect": "reject"}),
            "name",
            "1 to",
            None,
        ),
        (
            json!({"name": "k", "type": "keyword", "keywords": ["x"], "effect": "reject", "exceptions": [""]}),
            "exceptions[0]",
            "visible",
            None,
        ),
    ]);
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
