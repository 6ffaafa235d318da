//! A sample that somebody tries rules on is analysed as an item would be, once, and nothing of it is kept.

use domain::{decision::Unchecked, score::Scores};
use futures::future::join_all;

use super::ask;
use crate::provider::Providers;

/// What the providers say of a text: the maximum per category, none when none of them could score it, and who failed.
pub async fn analyse_sample(providers: &Providers, text: &str) -> (Option<Scores>, Vec<Unchecked>) {
    let asked = providers
        .iter()
        .map(|provider| ask(provider.as_ref(), text));
    let (mut merged, mut unchecked) = (Scores::default(), Vec::new());
    let mut failed = false;
    for answer in join_all(asked).await {
        match answer {
            Ok(report) => merged.merge_max(&report.scores),
            Err((provider, error)) => {
                failed = true;
                unchecked.push(Unchecked::ProviderFailed {
                    provider: provider.to_owned(),
                    detail: error.to_string(),
                });
            }
        }
    }
    if merged.is_empty() && !failed {
        unchecked.push(Unchecked::TextNotScored);
    }
    ((!merged.is_empty()).then_some(merged), unchecked)
}
