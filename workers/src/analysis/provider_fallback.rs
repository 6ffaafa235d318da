//! Asks providers about one modality of an item, in the order that its site prefers.

use std::time::{Duration, Instant};

use apalis::prelude::BoxDynError;
use domain::{media::Modality, score::Category};
use queue::Run;
use store::analysis::ToAnalyse;
use telemetry::failed;
use tracing::warn;

use super::{
    ASKING, Analyst, CROWDED,
    answer_cache::Found,
    chunked_requests::{Asked, Pieces, Shown},
    item_image::{ItemImage, Unseen},
    modality_analysis::ModalityAnalysis,
};
use crate::{
    created_event::CreatedEvent,
    provider::{ConfiguredProviders, LimitedProvider},
};

/// How far a run got with one modality.
pub(super) enum AskOutcome {
    /// All available providers were asked.
    Through,
    /// The next run should begin after this time and has time or room for the rest.
    Later(Duration),
    /// A provider failed in a way that may pass.
    Failed(String),
}

impl Analyst {
    /// Asks for what is missing of one modality.
    pub(super) async fn ask(
        &self,
        item: &ToAnalyse,
        modality_analysis: &mut ModalityAnalysis<'_>,
        run: &Run,
        created_event: &CreatedEvent,
        started: Instant,
    ) -> Result<AskOutcome, BoxDynError> {
        let modality = modality_analysis.modality();
        let mut item_image = ItemImage::new(item.media, item.team, &self.pool, &self.decode_pool);
        for name in preference(item, &self.registry) {
            let missing = modality_analysis.missing();
            if missing.is_empty() {
                break;
            }
            let Some(provider) = self.registry.find(name) else {
                modality_analysis.unknown(name);
                continue;
            };
            let can = provider.profile().scope.of(modality);
            let categories = both(can, &missing);
            if categories.is_empty() || modality_analysis.has_asked(name, can) {
                continue;
            }
            let asking = match modality {
                Modality::Text => self.cache.asking(item, provider, &categories),
                Modality::Image => None,
            };
            if let Some(asking) = &asking
                && let Some(found) = asking.find(provider).await
            {
                let Found {
                    answer,
                    elapsed,
                    media,
                } = found;
                modality_analysis.said_before(name, &categories, answer, elapsed, media);
                continue;
            }
            if modality_analysis.is_begun() && started.elapsed() + provider.deadline() > ASKING {
                return Ok(AskOutcome::Later(Duration::ZERO));
            }
            if modality == Modality::Image && !item_image.has_room().await {
                return Ok(AskOutcome::Later(CROWDED));
            }
            if provider.profile().access.is_some() {
                // An external provider may take long, or be paused.
                created_event.now().await?;
            }
            let has_time = || started.elapsed() + provider.deadline() <= ASKING;
            let mut unseen = None;
            let asked = match modality {
                Modality::Text => {
                    let text = text_in_pieces(item, provider, &categories, run);
                    let (asked, pieces) = text.show(provider, None, has_time).await?;
                    modality_analysis.said_in_part(pieces);
                    asked
                }
                Modality::Image => match item_image
                    .show(provider, &categories, item, run.is_last_attempt(), has_time)
                    .await?
                {
                    Ok(look) => {
                        modality_analysis.said_in_part(look.learned);
                        unseen = look.unseen;
                        look.asked
                    }
                    Err(Unseen::Gone) => break,
                    Err(Unseen::Crowded) => return Ok(AskOutcome::Later(CROWDED)),
                    Err(Unseen::Problem(problem)) => {
                        warn!(media.id = %item.media, provider = name, ?problem, "an image cannot be sent to a provider");
                        modality_analysis.unseen(problem, can);
                        continue;
                    }
                },
            };
            match asked {
                Asked::Said(answer, elapsed) => {
                    if let Some(asking) = &asking {
                        asking.keep(&answer, &categories).await;
                    }
                    modality_analysis.said(name, &categories, answer, elapsed);
                    if let Some(problem) = unseen {
                        warn!(media.id = %item.media, provider = name, ?problem, "part of an image cannot be sent to a provider");
                        modality_analysis.saw_in_part(problem);
                    }
                }
                Asked::Paused(wait) => modality_analysis.paused(name, can, wait),
                Asked::OutOfTime => return Ok(AskOutcome::Later(Duration::ZERO)),
                Asked::Failed(error, _) if error.is_passing() && !run.is_last_attempt() => {
                    return Ok(AskOutcome::Failed(format!("{name}: {error}")));
                }
                Asked::Failed(error, elapsed) => {
                    let (code, cause) = (error.code(), error.cause());
                    failed!(provider.refusing().failed(), media.id = %item.media, provider = name, %modality, %error, code,
                        cause, "a provider failed permanently for an item");
                    modality_analysis.failed(name, can, &error, elapsed);
                }
            }
        }
        if modality == Modality::Text && self.registry.names().next().is_none() {
            modality_analysis.nobody();
        }
        Ok(AskOutcome::Through)
    }
}

/// An item's text, in the pieces that a provider takes.
fn text_in_pieces<'a>(
    item: &'a ToAnalyse,
    provider: &LimitedProvider,
    categories: &'a [Category],
    run: &Run,
) -> Pieces<'a> {
    Pieces {
        shown: Shown::text(provider, item.text.as_deref().unwrap_or_default()),
        categories,
        policy: item.policy.as_deref(),
        team: item.team,
        kept: &item.pieces,
        is_last_attempt: run.is_last_attempt(),
    }
}

/// The names of providers to ask, in order.
fn preference<'a>(item: &'a ToAnalyse, registry: &'a ConfiguredProviders) -> Vec<&'a str> {
    match &item.preferred {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => registry.names().collect(),
    }
}

pub(super) fn both(some: &[Category], others: &[Category]) -> Vec<Category> {
    let some = some.iter().copied();
    some.filter(|category| others.contains(category)).collect()
}
