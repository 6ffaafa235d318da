//! Analyse: every provider looks at the text, concurrently, and their scores are merged.

mod sample;

use std::time::Instant;

use apalis::prelude::{BoxDynError, Data};
use domain::{decision::Unchecked, id::MediaId, score::Scores};
use futures::future::join_all;
use metrics::{Counter, counter, histogram};
use queue::Run;
use store::{
    PgPool,
    analysis::{self, Analysed, ProviderReport, ToAnalyse},
    gather::Loader,
    jobs::MediaJob,
};
use tracing::warn;

pub use self::sample::analyse_sample;
use crate::provider::{Provider, ProviderError, Providers};

/// What the analysis step works with.
#[derive(Clone)]
pub struct Analyst {
    media: Loader<MediaId, ToAnalyse>,
    providers: Providers,
}

impl Analyst {
    /// An analyst who asks these providers.
    pub fn new(pool: PgPool, providers: Providers) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first error has no increase then.
        for provider in providers.iter() {
            for reason in ProviderError::REASONS {
                errors(provider.name(), reason).increment(0);
            }
        }
        Self {
            media: analysis::loader(pool),
            providers,
        }
    }
}

/// Runs one job. A provider that fails makes the job fail, and so be tried again; at the last attempt what the others
/// said is kept and what failed is noted, so that the rules and the site's `on_failure` decide.
pub(crate) async fn analyse(
    job: MediaJob,
    analyst: Data<Analyst>,
    run: Run,
) -> Result<Option<Analysed>, BoxDynError> {
    let Some(item) = analyst.media.load(job.media).await? else {
        return Ok(None);
    };
    let Some(text) = item.text.as_deref() else {
        return Ok(Some(analysed(&item, Vec::new(), Vec::new())));
    };

    let asked = analyst
        .providers
        .iter()
        .map(|provider| ask(provider.as_ref(), text));
    let mut reports = Vec::new();
    let mut unchecked = Vec::new();
    for answer in join_all(asked).await {
        match answer {
            Ok(report) => reports.push(report),
            Err((_, error)) if error.is_passing() && !run.is_last_attempt() => {
                return Err(error.into());
            }
            Err((provider, error)) => {
                warn!(media.id = %job.media, provider, %error, "a provider failed for good");
                unchecked.push(Unchecked::ProviderFailed {
                    provider: provider.to_owned(),
                    detail: error.to_string(),
                });
            }
        }
    }
    if !reports.is_empty() && reports.iter().all(|report| report.scores.is_empty()) {
        unchecked.push(Unchecked::TextNotScored);
    }
    if analyst.providers.is_empty() {
        let detail = "no provider is configured".to_owned();
        unchecked.push(Unchecked::ProviderFailed {
            provider: "analysis".into(),
            detail,
        });
    }
    Ok(Some(analysed(&item, reports, unchecked)))
}

async fn ask<'a>(
    provider: &'a dyn Provider,
    text: &str,
) -> Result<ProviderReport, (&'a str, ProviderError)> {
    let name = provider.name();
    let started = Instant::now();
    let answer = provider.analyse(text).await;
    let elapsed = started.elapsed();
    histogram!("gatehouse_provider_request_duration_seconds", "provider" => name.to_owned())
        .record(elapsed);
    match answer {
        Ok(scores) => Ok(ProviderReport {
            provider: name.to_owned(),
            scores,
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        }),
        Err(error) => {
            errors(name, error.reason()).increment(1);
            Err((name, error))
        }
    }
}

fn errors(provider: &'static str, reason: &'static str) -> Counter {
    counter!("gatehouse_provider_errors_total", "provider" => provider, "reason" => reason)
}

fn analysed(
    item: &ToAnalyse,
    providers: Vec<ProviderReport>,
    unchecked: Vec<Unchecked>,
) -> Analysed {
    let mut merged = Scores::default();
    for report in &providers {
        merged.merge_max(&report.scores);
    }
    let scores = (!merged.is_empty()).then_some(merged);
    Analysed {
        media: item.media,
        team: item.team,
        scores,
        providers,
        unchecked,
    }
}
