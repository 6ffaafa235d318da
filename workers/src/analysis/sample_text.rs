//! Analyses a sample text on which somebody tries rules. The providers are asked once, in the
//! operator's order. Nothing is kept, and neither limits nor breakers count these requests.

use std::time::Duration;

use domain::{
    decision::Unchecked,
    media::Modality,
    score::{Category, Scores},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use tokio::time::timeout;

use super::provider_fallback::both;
use crate::provider::{
    Answer, Content, Provider, ProviderError, Providers, Question, merge, pieces,
};

/// The deadline of a provider without one of its own.
const DEADLINE: Duration = Duration::from_secs(10);
/// Pieces that are under way at the same time.
const AT_ONCE: usize = 4;

/// Asks a provider for all pieces of a text.
async fn ask(
    provider: &dyn Provider,
    text: &str,
    categories: &[Category],
) -> Result<Answer, ProviderError> {
    let profile = provider.profile();
    let access = profile.access.as_ref();
    let deadline = access.map_or(DEADLINE, |access| access.deadline);
    let asking: Vec<_> = pieces(text, profile.piece_bytes)
        .into_iter()
        .map(|piece| ask_once(provider, piece, categories, deadline))
        .collect();
    let answers: Vec<Answer> = stream::iter(asking).buffered(AT_ONCE).try_collect().await?;
    let answers = answers.iter();
    Ok(merge(
        answers.map(|answer| (&answer.scores, answer.raw.as_deref())),
    ))
}

async fn ask_once(
    provider: &dyn Provider,
    piece: &str,
    categories: &[Category],
    deadline: Duration,
) -> Result<Answer, ProviderError> {
    let question = Question {
        content: Content::Text(piece),
        categories,
        policy: None,
        team: None,
    };
    let answer = timeout(deadline, provider.analyse(question)).await;
    answer.unwrap_or(Err(ProviderError::TimedOut))
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
