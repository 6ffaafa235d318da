//! AI providers: one file each, for texts, images or both. A provider maps what it says to our categories; a category that it cannot score is absent,
//! never 0.

mod aws;
mod azure;
mod builtin;
mod chat;
mod chunks;
mod cost;
mod error;
mod fingerprint;
mod gate;
mod guarded;
mod guardrail;
mod hive;
mod http;
mod mistral;
mod natural_language;
mod openai;
mod panel;
mod rekognition;
mod sightengine;
mod trial;
mod vision;
mod wire;

use std::{sync::Arc, time::Duration};

use domain::{
    breaker::BreakerSettings,
    media::Modality,
    score::{Category, Scores},
};
use futures::future::BoxFuture;

pub use aws::{AwsAccess, AwsKey, AwsRole, ContainerToken};
pub use azure::Azure;
pub use builtin::Builtin;
pub use chat::{AnswerFormat, Chat, ChatSettings, MostTokens, Style};
pub use error::{NoCredentials, ProviderError, Told};
pub use fingerprint::Fingerprint;
pub use guardrail::{Guardrail, GuardrailId};
pub use hive::Hive;
pub use http::Http;
pub use mistral::Mistral;
pub use natural_language::NaturalLanguage;
pub use openai::OpenAi;
pub use rekognition::Rekognition;
pub use sightengine::Sightengine;
pub use trial::{Trial, try_out};
pub use vision::Vision;
pub use wire::{Auth, NoProxy, Proxy, Remote};

pub(crate) use chunks::{merge, pieces};
pub(crate) use cost::{Lookup, Piece};
pub(crate) use guarded::{Guarded, Reply, Seat, Turn};
pub(crate) use panel::Panel;

use crate::picture::{Limits, Rendition};

/// Pixels of an image's longer side that are shown to anybody: more would tell models nothing, and weigh megabytes.
const IMAGE_SIDE: u32 = 2_048;

/// Someone who scores texts, images or both.
pub trait Provider: Send + Sync {
    /// Who it is, what it can score, and what must be minded when it is asked.
    fn profile(&self) -> &Profile;

    /// Scores a text of up to [`Profile::piece_bytes`], or an image within its limits, with one request. An answer in which a
    /// category that is asked for is neither scored nor expressly left out is none.
    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>>;
}

/// A provider as it is configured.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name in sites' settings, traces, reasons and metrics.
    pub name: String,
    /// What it speaks.
    pub kind: &'static str,
    /// What it is to score.
    pub scope: Scope,
    /// What images must be like to be shown to it; none if it looks at none.
    pub limits: Option<Limits>,
    /// Bytes of text that it takes at a time. Longer texts are cut into pieces.
    pub piece_bytes: usize,
    /// What its answers tell of their cost.
    told: cost::Usage,
    /// What must be minded when it is asked; none if it needs no network.
    pub access: Option<Access>,
}

/// What is scored of texts, and what of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Of texts.
    pub text: Vec<Category>,
    /// Of images.
    pub image: Vec<Category>,
}

impl Scope {
    /// What is scored of one of the two.
    pub fn of(&self, modality: Modality) -> &[Category] {
        match modality {
            Modality::Text => &self.text,
            Modality::Image => &self.image,
        }
    }
}

/// What a provider is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// What is to be looked at.
    pub content: Content<'a>,
    /// What is to be scored: some of what the provider can score. More may be answered.
    pub categories: &'a [Category],
    /// The site's own policy, for those that judge by one.
    pub policy: Option<&'a str>,
}

/// What is shown to a provider.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A text, or a piece of one.
    Text(&'a str),
    /// An image within the provider's limits.
    Image(&'a Rendition),
}

/// What a provider answers.
#[derive(Debug, Default)]
pub struct Answer {
    /// Its scores, mapped to our categories.
    pub scores: Scores,
    /// Its own words, as far as they are kept.
    pub raw: Option<String>,
    /// With this answer its limit is used up for so long.
    pub spent: Option<Duration>,
}

/// What must be minded when a provider is asked.
#[derive(Clone, Debug)]
pub struct Access {
    /// Stands for the provider's address and key in the state that all workers share; tells neither.
    pub credential: String,
    /// Stands for everything in the configuration that may change an answer to the same text.
    pub fingerprint: Fingerprint,
    /// Requests that one process makes at the same time.
    pub concurrency: usize,
    /// How long it may take for one.
    pub deadline: Duration,
    /// When it is paused.
    pub breaker: BreakerSettings,
}

/// The providers that an operator configured, in the order of preference.
pub type Providers = Arc<[Arc<dyn Provider>]>;
