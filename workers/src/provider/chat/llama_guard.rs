//! Llama Guard 3 and 4, which have the same hazards, S1 to S14. The text is the user's message. The
//! answer is `safe`, or `unsafe` and a line of hazards, `S1,S3`.
//!
//! Source: Meta's model card. The score of the listed hazards is the probability of `unsafe` as the
//! first token if the server returns probabilities, and otherwise 1. All other hazards are 0,
//! because a small probability of `unsafe` says nothing about a particular hazard.

#[cfg(test)]
mod tests;

use domain::score::{Category, Scores};
use serde_json::{Value, json};

use super::{Choice, only};
use crate::provider::ProviderError;

/// The categories that it can score.
pub(super) const CATEGORIES: &[Category] = &[
    Category::Adult,
    Category::Violence,
    Category::Hate,
    Category::SelfHarm,
    Category::SexualMinors,
    Category::Illicit,
];

/// The versions with these hazards. In version 2, S9 is hate and S11 is sexual content. Version 1
/// has names such as `O3`.
const KNOWN: [u32; 2] = [3, 4];

/// Room for all hazards.
pub(super) const MAX_TOKENS: u32 = 64;

/// An error if the name of a model shows that it is a Llama Guard with other hazards. A server can
/// give a model any name, so other names are accepted.
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
        // `LlamaGuard-7b` names only its size.
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

/// The probability of the first token that is not blank, if the server returns it.
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
    // A token that was chosen has a positive probability.
    if probability > 0.0 && probability <= 1.0 {
        Ok(Some(probability))
    } else {
        Err(ProviderError::Malformed("a probability is not from 0 to 1"))
    }
}

/// Our categories for a hazard. None if the hazard does not exist. Some hazards have no category of
/// ours: specialised advice, privacy, elections.
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
