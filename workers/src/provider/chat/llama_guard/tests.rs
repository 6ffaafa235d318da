//! Requests and answers as Llama Guard writes them.

use super::*;

fn choice(content: &str, first: Option<(&str, f64)>) -> Choice {
    let tokens = first.map(|(token, probability)| {
        json!({"content": [
            {"token": "\n\n", "logprob": 0.0},
            {"token": token, "logprob": f64::ln(probability)},
        ]})
    });
    let choice = json!({
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
        "logprobs": tokens,
    });
    serde_json::from_value(choice).unwrap()
}

fn scores(content: &str, first: Option<(&str, f64)>) -> Scores {
    read(&choice(content, first), CATEGORIES).unwrap()
}

#[test]
fn without_probabilities_it_is_yes_or_no() {
    let safe = scores("\n\nsafe", None);
    assert!(safe.iter().all(|(_, score)| score == 0.0));
    assert_eq!(safe.iter().count(), CATEGORIES.len());
    assert_eq!(safe.get(Category::Harassment), None);

    let found = scores("\n\nunsafe\nS4,S9", None);
    assert_eq!(found.get(Category::Adult), Some(1.0));
    assert_eq!(found.get(Category::SexualMinors), Some(1.0));
    assert_eq!(found.get(Category::Violence), Some(1.0));
    assert_eq!(found.get(Category::Illicit), Some(1.0));
    assert_eq!(found.get(Category::Hate), Some(0.0));
}

#[test]
fn the_score_is_the_probability_of_unsafe_as_the_first_word() {
    let near = |score: Option<f64>, expected: f64| (score.unwrap() - expected).abs() < 1e-9;
    let safe = scores("safe", Some(("safe", 0.9)));
    assert!(near(safe.get(Category::Violence), 0.0));
    let found = scores("unsafe\nS1", Some(("un", 0.75)));
    assert!(near(found.get(Category::Violence), 0.75));
    assert!(near(found.get(Category::Hate), 0.0));
}

#[test]
fn hazards_that_are_not_ours_leave_ours_at_nothing() {
    let found = scores("unsafe\nS6", None);
    assert!(found.iter().all(|(_, score)| score == 0.0));
}

#[test]
fn only_what_is_to_be_scored_is() {
    let found = read(&choice("unsafe\nS1", None), &[Category::Violence]).unwrap();
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        [(Category::Violence, 1.0)]
    );
}

#[test]
fn models_with_other_hazards_are_known_by_their_names() {
    for (model, version) in [
        ("meta-llama/LlamaGuard-7b", Some(1)),
        ("Meta-Llama/Llama-Guard-7b", Some(1)),
        ("meta-llama/Meta-Llama-Guard-2-8B", Some(2)),
        ("meta-llama/LlamaGuard-2-8b", Some(2)),
        ("meta-llama/Llama-Guard-5-8B", Some(5)),
        ("meta-llama/Llama-Guard-3-8B", None),
        ("meta-llama/Llama-Guard-3-11B-Vision", None),
        ("meta-llama/Llama-Guard-4-12B", None),
        ("llama-guard3:8b", None),
        ("llama-guard3", None),
        ("guard", None),
        ("llama-guard", None),
        ("granite-guardian-3-8b", None),
    ] {
        let told = other_hazards(model);
        let named = version.map(|version| format!("is Llama Guard {version}, "));
        assert_eq!(told.is_some(), named.is_some(), "{model}: {told:?}");
        assert!(
            told.unwrap_or_default()
                .starts_with(&named.unwrap_or_default())
        );
    }
}

#[test]
fn everything_else_is_malformed() {
    for content in [
        "",
        "unsafe",
        "safe\nS1",
        "unsafe\n",
        "unsafe\nS15",
        "unsafe\nS1,S15",
        "unsafe\nO3",
        "unsafe\nS1\nS2",
        "Sure! safe",
        "I cannot help with that.",
        "unsafe\nS1,",
        "UNSAFE\nS1",
    ] {
        assert!(
            read(&choice(content, None), CATEGORIES).is_err(),
            "{content:?}"
        );
    }
    let wrong = choice("unsafe\nS1", Some(("safe", 0.9)));
    assert!(read(&wrong, CATEGORIES).is_err());
    for impossible in [-1e300, 0.5] {
        let tokens = json!({ "content": [{ "token": "unsafe", "logprob": impossible }] });
        let choice = json!({ "message": { "content": "unsafe\nS1" }, "logprobs": tokens });
        let choice = serde_json::from_value(choice).unwrap();
        assert!(read(&choice, CATEGORIES).is_err(), "{impossible}");
    }
}
