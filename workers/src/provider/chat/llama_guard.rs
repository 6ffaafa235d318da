//! Llama Guard 3 and 4, which name the same hazards, S1 to S14: the text is the user's message, the answer is `safe`, or `unsafe` and a line of hazards, `S1,S3`.
//!
//! Source: Meta's model card. The score of the listed hazards is the probability of `unsafe` as the first token, where the server
//! tells probabilities, and otherwise 1. All others are 0: that a text is a little unsafe says nothing of any one hazard.

use domain::score::{Category, Scores};
use serde_json::{Value, json};

use super::{Choice, only};
use crate::provider::ProviderError;

/// What it can score.
pub(super) const CATEGORIES: &[Category] = &[
    Category::Adult,
    Category::Violence,
    Category::Hate,
    Category::SelfHarm,
    Category::SexualMinors,
    Category::Illicit,
];

/// The versions with these hazards. Of version 2, S9 is hate and S11 sexual content; version 1 has names such as `O3`.
const KNOWN: [u32; 2] = [3, 4];

/// Room for all hazards.
pub(super) const MAX_TOKENS: u32 = 64;

/// What is wrong with a model, if its name says that it is a Llama Guard with other hazards. Models are served under any name, so one that
/// says nothing is taken.
pub(super) fn other_hazards(model: &str) -> Option<String> {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let (before, after) = name.split_once("guard")?;
    if !before.contains("llama") {
        return None;
    }
    let after = after.trim_start_matches(['-', '_', ' ']);
    let digits = after.len() - after.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = after.split_at(digits);
    let version: u32 = match number.parse() {
        // `LlamaGuard-7b` tells its size only.
        Ok(_) if rest.starts_with('b') => 1,
        Ok(version) => version,
        Err(_) => return None,
    };
    (!KNOWN.contains(&version)).then(|| {
        format!(
            "is Llama Guard {version}, whose hazards are not those that this style knows; use Llama Guard 3 or 4, such as \
             meta-llama/Llama-Guard-3-8B, or the style policy"
        )
    })
}

pub(super) fn request(text: &str) -> Value {
    json!({
        "messages": [{ "role": "user", "content": text }],
        "logprobs": true,
    })
}

pub(super) fn read(choice: &Choice, categories: &[Category]) -> Result<Scores, ProviderError> {
    let content = choice.content()?;
    let mut lines = content.trim().lines().map(str::trim);
    let word = lines.next().unwrap_or_default();
    let hazards = lines.next();
    let (true, None) = ((word == "safe") != hazards.is_some(), lines.next()) else {
        return Err(ProviderError::Malformed("neither safe nor unsafe"));
    };
    let told = told_probability(choice, word)?;
    if !matches!(word, "safe" | "unsafe") {
        return Err(ProviderError::Malformed("neither safe nor unsafe"));
    }
    let mut scores: Scores = CATEGORIES.iter().map(|category| (*category, 0.0)).collect();
    for hazard in hazards.into_iter().flat_map(|list| list.split(',')) {
        let ours = ours(hazard.trim()).ok_or(ProviderError::Malformed("an unknown hazard"))?;
        for category in ours {
            scores.set(*category, told.unwrap_or(1.0));
        }
    }
    Ok(only(&scores, categories))
}

/// The probability of the first token that says something, if the server tells it.
fn told_probability(choice: &Choice, word: &str) -> Result<Option<f64>, ProviderError> {
    let tokens = choice.logprobs.as_ref().and_then(|l| l.content.as_deref());
    let first = tokens
        .unwrap_or_default()
        .iter()
        .find(|token| !token.token.trim().is_empty());
    let Some(first) = first else { return Ok(None) };
    // The word may be several tokens: `un`, `safe`.
    if !word.starts_with(first.token.trim()) {
        return Err(ProviderError::Malformed("the tokens are not the content's"));
    }
    let probability = first.logprob.exp();
    // What was said is possible.
    if probability > 0.0 && probability <= 1.0 {
        Ok(Some(probability))
    } else {
        Err(ProviderError::Malformed("a probability is not from 0 to 1"))
    }
}

/// Our categories for a hazard; none if there is no such hazard. Some are no category of ours: specialised advice, privacy,
/// elections.
fn ours(hazard: &str) -> Option<&'static [Category]> {
    Some(match hazard {
        "S1" => &[Category::Violence],
        "S2" => &[Category::Illicit],
        "S9" => &[Category::Violence, Category::Illicit],
        "S3" | "S12" => &[Category::Adult],
        "S4" => &[Category::Adult, Category::SexualMinors],
        "S10" => &[Category::Hate],
        "S11" => &[Category::SelfHarm],
        "S5" | "S6" | "S7" | "S8" | "S13" | "S14" => &[],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
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
}
