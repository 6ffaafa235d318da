//! A sample that somebody tries rules on: the providers are asked in the operator's order for what is wanted, once, and nothing
//! of it is kept. Neither their limits nor their breakers hear of it.

use std::time::Duration;

use domain::{
    decision::Unchecked,
    media::Modality,
    score::{Category, Scores},
};
use tokio::time::timeout;

use super::both;
use crate::provider::{Content, ProviderError, Providers, Question};

/// How long a provider may take that has no deadline of its own.
const DEADLINE: Duration = Duration::from_secs(10);

/// What the providers say of a text: the scores, none when none of them could score it, and who failed.
pub async fn analyse_sample(
    providers: &Providers,
    text: &str,
    wanted: &[Category],
) -> (Option<Scores>, Vec<Unchecked>) {
    let (mut scores, mut unchecked) = (Scores::default(), Vec::new());
    let mut asked = Vec::new();
    for provider in providers.iter() {
        let missing: Vec<Category> = wanted
            .iter()
            .copied()
            .filter(|category| scores.get(*category).is_none())
            .collect();
        let profile = provider.profile();
        let categories = both(&profile.scope.text, &missing);
        if categories.is_empty() {
            continue;
        }
        let question = Question {
            content: Content::Text(text),
            categories: &categories,
            policy: None,
        };
        let access = profile.access.as_ref();
        let deadline = access.map_or(DEADLINE, |access| access.deadline);
        let answer = timeout(deadline, provider.analyse(question)).await;
        match answer.unwrap_or(Err(ProviderError::TimedOut)) {
            Ok(answer) => {
                scores.merge_max(&answer.scores);
                asked.extend(categories);
            }
            Err(error) => unchecked.push(Unchecked::ProviderFailed {
                provider: profile.name.clone(),
                modality: Modality::Text,
                detail: error.to_string(),
            }),
        }
    }
    let categories: Vec<Category> = wanted
        .iter()
        .copied()
        .filter(|category| asked.contains(category) && scores.get(*category).is_none())
        .collect();
    if !categories.is_empty() {
        unchecked.push(Unchecked::CategoriesNotScored {
            modality: Modality::Text,
            categories,
        });
    }
    if scores.is_empty() && unchecked.is_empty() {
        unchecked.push(Unchecked::TextNotScored);
    }
    ((!scores.is_empty()).then_some(scores), unchecked)
}
