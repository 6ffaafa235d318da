//! Analyses a sample text on which somebody tries rules. The providers are asked once, in the
//! operator's order. Nothing is kept, and neither limits nor breakers count these requests.

use domain::{
    decision::Unchecked,
    media::Modality,
    score::{Category, Scores},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use super::provider_fallback::both;
use crate::provider::{
    Answer, Content, Provider, ProviderError, Providers, ask_once, merge, pieces,
};

/// Pieces that are under way at the same time.
const AT_ONCE: usize = 4;

/// Asks a provider for all pieces of a text.
async fn ask(
    provider: &dyn Provider,
    text: &str,
    categories: &[Category],
) -> Result<Answer, ProviderError> {
    let asking: Vec<_> = pieces(text, provider.profile().piece_bytes)
        .into_iter()
        .map(|piece| ask_once(provider, Content::Text(piece), categories))
        .collect();
    let answers: Vec<Answer> = stream::iter(asking).buffered(AT_ONCE).try_collect().await?;
    let answers = answers.iter();
    Ok(merge(
        answers.map(|answer| (&answer.scores, answer.raw.as_deref())),
    ))
}

/// The providers' scores for a text (none if no provider could score it), and the providers that
/// failed.
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
        match ask(provider.as_ref(), text, &categories).await {
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
