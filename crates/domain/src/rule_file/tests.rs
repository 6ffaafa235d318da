//! What is written is read back, mistakes have places, and no document grows.

use super::*;

fn refused(yaml: &str) -> String {
    match InputFile::from_yaml(yaml) {
        Ok(file) => {
            let wrong = file.rules.into_rules(|| uuid::Uuid::nil().into());
            wrong.unwrap_err().all_errors().to_string()
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_written_is_read_back_equal_whatever_the_texts_look_like() {
    let json = serde_json::json!([
        { "id": "01980f6d-11aa-7bbb-8ccc-0123456789ab", "name": "yes", "enabled": false, "type": "keyword",
          "keywords": [
              "no", "null", "~", "1e3", "0x1F", "012", "12:30", "- a", "*x", "&x", "!x", " a", "a ", "", "a\nb\n", "a\r\nb",
              "\t", "\u{7}", "é\u{202e}", "\u{feff}x", "\u{1f600}", "a: b", "# c", "long ".repeat(60)
          ],
          "exceptions": ["x"], "effect": "reject" },
        { "name": "1.5", "type": "regex", "pattern": r"review-\d{4} # 'q' ", "effect": "review" },
        { "name": "c", "type": "ai_threshold", "category": "adult", "review_at": 0.5, "reject_at": 1.0 },
        { "name": "d", "type": "link", "policy": "allow", "domains": [], "effect": "review" },
    ]);
    let rules: Vec<Entry> = serde_json::from_value(json).unwrap();
    let fresh = || uuid::Uuid::max().into();
    let entries = rules.iter().cloned();
    let expected: Vec<Rule> = entries
        .map(|entry| entry.body.into_rule(entry.id.unwrap_or_else(fresh)))
        .collect();
    let name: Name = "a: b # 'c'".parse().unwrap();
    let yaml = RuleFile { name, rules }.to_yaml();
    let read = InputFile::from_yaml(&yaml).unwrap();
    assert_eq!(read.name.as_str(), "a: b # 'c'");
    assert_eq!(read.rules.into_rules(fresh).unwrap(), expected, "{yaml}");
}

#[test]
fn a_mistake_is_told_with_its_place_and_without_the_text_around_it() {
    for (yaml, place) in [
        ("name: x\nrules:\n  - {name: a, type: magic}\n", "line 3"),
        (
            "name: x\nrules:\n  - {name: a, type: regex, pattern: x, effect: reject, flags: i}\n",
            "line 3",
        ),
        ("name: x\nname: y\nrules: []\n", "line 2"),
        ("name: x\nrules: []\nsecret: 1\n", "line 3"),
        ("name: ''\nrules: []\n", "line 1"),
        ("name: 1.5\nrules: []\n", "in quotes (line 1"),
        (
            "name: x\nrules:\n- name: yes\n  type: regex\n  pattern: 7\n  effect: review\n",
            "in quotes (line 5",
        ),
        (
            "name: x\nrules:\n- {name: a, type: ai_threshold, category: hate, review_at: .nan}\n",
            "line 3",
        ),
        ("name: [\n", "line"),
    ] {
        let message = refused(yaml);
        assert!(message.contains(place), "{yaml:?}: {message}");
        assert!(!message.contains('\n'), "{message}");
    }
}

#[test]
fn nothing_grows_and_nothing_is_deep() {
    let levels = (1..30).map(|n: u8| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1));
    let bomb: String = levels.collect();
    for yaml in [
        format!("a0: &a0 [x, x]\n{bomb}name: x\nrules: []\n"),
        "name: x\nrules: &r []\n".to_owned(),
        format!("name: x\nrules: {}\n", "[".repeat(100_000)),
        format!("name: x\nrules: [{}]\n", "{}, ".repeat(600_000)),
        format!("name: x\nrules: []\n# {}", "x".repeat(MAX_BYTES)),
        "name: x\nrules: []\n---\nname: y\nrules: []\n".to_owned(),
    ] {
        refused(&yaml);
    }
}
