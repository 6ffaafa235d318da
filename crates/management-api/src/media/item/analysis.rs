//! What the providers answered about an item.

use std::collections::HashMap;

use api_common::{
    field::{Field, Time},
    raw_json::RawJson,
};
use domain::{decision::Unchecked, id::MediaId, media::Modality};
use poem_openapi::Object;
use serde::Serialize;
use store::{analysis::ProviderReport, media};
use uuid::Uuid;

/// What the providers answered about an item.
#[derive(Serialize, Object)]
pub(super) struct MediaAnalysis {
    /// Scores from 0 to 1 by category: the highest of all providers, of text and image. `null` if no provider could score
    /// it.
    #[oai(nullable)]
    scores: Option<RawJson<HashMap<String, f64>>>,
    /// What each provider answered.
    providers: Vec<ProviderAnswer>,
    /// What could not be checked.
    unchecked: Vec<MediaUnchecked>,
    /// When the analysis ended.
    created_at: Field<Time>,
}

/// What one provider answered about an item.
#[derive(Serialize, Object)]
pub(super) struct ProviderAnswer {
    /// The provider's name.
    provider: String,
    /// What it was shown: the item's text or its image.
    modality: Field<Modality>,
    /// Its scores from 0 to 1 by category. Categories that it could not score are absent.
    scores: HashMap<String, f64>,
    /// How long it took, in milliseconds.
    elapsed_ms: u64,
    /// In one word, why it failed for good, so that another provider was asked. `null` if it did not fail. More values may
    /// be added.
    #[oai(nullable)]
    failure: Option<String>,
    /// Its answer in its own words, up to 64 KiB. `null` if it answers with scores only.
    #[oai(nullable)]
    raw: Option<String>,
    /// The earlier item of the same site with an equal text whose answer was used again. `null` if the provider was asked
    /// about this item.
    #[oai(nullable)]
    cached_from: Option<Uuid>,
}

/// Something about an item that could not be checked.
#[derive(Serialize, Object)]
pub(super) struct MediaUnchecked {
    /// What it is, for programs. More values may be added.
    what: String,
    /// The same for people.
    message: String,
}

impl TryFrom<media::Analysis> for MediaAnalysis {
    type Error = store::Error;

    fn try_from(analysis: media::Analysis) -> Result<Self, store::Error> {
        let providers: Vec<ProviderReport> = serde_json::from_str(analysis.providers.get())?;
        let unchecked: Vec<Unchecked> = serde_json::from_str(analysis.unchecked.get())?;
        let providers = providers.into_iter().map(ProviderAnswer::from).collect();
        Ok(Self {
            scores: analysis.scores.map(RawJson::from),
            providers,
            unchecked: unchecked.iter().map(MediaUnchecked::from).collect(),
            created_at: analysis.created_at.into(),
        })
    }
}

impl From<ProviderReport> for ProviderAnswer {
    fn from(report: ProviderReport) -> Self {
        let scores = report
            .scores
            .iter()
            .map(|(category, score)| (category.to_string(), score));
        Self {
            provider: report.provider,
            modality: Field(report.modality),
            scores: scores.collect(),
            elapsed_ms: report.elapsed_ms,
            failure: report.failure,
            raw: report.raw,
            cached_from: report.cached_from.map(MediaId::as_uuid),
        }
    }
}

impl From<&Unchecked> for MediaUnchecked {
    /// Details of a provider failure can reveal addresses in our network, so they are not shown.
    fn from(unchecked: &Unchecked) -> Self {
        Self {
            what: unchecked.what().to_owned(),
            message: unchecked.to_string(),
        }
    }
}
