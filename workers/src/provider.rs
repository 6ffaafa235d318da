//! AI providers for texts, images or both, one file each. Each maps its answers to our categories.
//! A category that it cannot score is absent, never 0.

mod admission;
mod aws;
mod azure;
mod builtin;
mod chat;
mod chunks;
mod configured;
mod connection_test;
mod cost;
mod error;
mod fingerprint;
mod guardrail;
mod hive;
mod http;
mod limited_provider;
mod mistral;
mod natural_language;
mod openai;
mod rekognition;
mod remote;
mod sightengine;
#[cfg(test)]
mod tests;
mod transport;
mod vision;

use std::{sync::Arc, time::Duration};

use domain::{
    breaker::BreakerSettings,
    id::TeamId,
    media::Modality,
    score::{Category, Scores},
};
use futures::{FutureExt as _, future::BoxFuture};
use picture::{Limits, Rendition};
use tokio::time::timeout;

pub use aws::{AwsAccess, AwsKey, AwsRole, ContainerToken};
pub use azure::Azure;
pub use builtin::Builtin;
pub use chat::{AnswerFormat, Chat, ChatSettings, MostTokens, Style};
pub use connection_test::{Trial, try_out};
pub use error::{NoCredentials, ProviderError, Told};
pub use fingerprint::Fingerprint;
pub use guardrail::{Guardrail, GuardrailId};
pub use hive::Hive;
pub use http::Http;
pub use mistral::Mistral;
pub use natural_language::NaturalLanguage;
pub use openai::OpenAi;
pub use rekognition::Rekognition;
pub use remote::{Auth, NoProxy, Proxy, Remote};
pub use sightengine::Sightengine;
pub use vision::Vision;

pub(crate) use chunks::{merge, pieces};
pub(crate) use configured::ConfiguredProviders;
pub(crate) use cost::{Lookup, Piece};
pub(crate) use limited_provider::{LimitedProvider, Reply, Seat, Turn};

use self::{cost::CostCounter, transport::Transport};

/// The most pixels of an image's longer side that a provider is shown. More would not help models,
/// and would take megabytes.
const IMAGE_SIDE: u32 = 2_048;

/// The deadline of a provider without one of its own, where nobody else waits.
const DEADLINE: Duration = Duration::from_secs(10);

/// Scores texts, images or both.
pub trait Provider: Send + Sync {
    /// Its name, what it can score, and how it may be asked.
    fn profile(&self) -> &Profile;

    /// Scores a text of up to [`Profile::piece_bytes`], or an image within its limits, with one
    /// request. An answer must score each category that was asked for, or leave it out explicitly.
    /// Any other answer is an error.
    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>>;
}

/// A provider that is asked over the network.
trait RemoteProvider: Send + Sync {
    /// Its connection, which has its profile.
    fn transport(&self) -> &Transport;

    /// See [`Provider::analyse`].
    fn ask(
        &self,
        question: Question<'_>,
    ) -> impl Future<Output = Result<Answer, ProviderError>> + Send;
}

impl<P: RemoteProvider> Provider for P {
    fn profile(&self) -> &Profile {
        self.transport().profile()
    }

    fn analyse<'a>(
        &'a self,
        question: Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ProviderError>> {
        self.ask(question).boxed()
    }
}

/// Asks a provider once, without a site's policy. Neither limits nor the breaker count this.
pub(crate) async fn ask_once(
    provider: &dyn Provider,
    content: Content<'_>,
    categories: &[Category],
) -> Result<Answer, ProviderError> {
    let question = Question {
        content,
        categories,
        policy: None,
        team: None,
    };
    let access = provider.profile().access.as_ref();
    let deadline = access.map_or(DEADLINE, |access| access.deadline);
    let answer = timeout(deadline, provider.analyse(question)).await;
    answer.unwrap_or(Err(ProviderError::TimedOut))
}

/// A provider's configuration.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name in sites' settings, traces, reasons and metrics.
    pub name: String,
    /// The kind of its interface.
    pub kind: &'static str,
    /// The categories that it scores.
    pub scope: Scope,
    /// Whether it looks only for a little in an image. An image that only such providers have seen is
    /// not examined for the other categories.
    pub is_narrow: bool,
    /// The limits of images that it takes. None if it takes no images.
    pub limits: Option<Limits>,
    /// The most bytes of text in one request. Longer texts are cut into pieces.
    pub piece_bytes: usize,
    /// Where its answers tell their cost.
    told: cost::Usage,
    /// What it cost since that was last stored.
    cost_counter: Arc<CostCounter>,
    /// How it may be asked. None if it needs no network.
    pub access: Option<Access>,
}

/// The categories that are scored in texts and in images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Of texts.
    pub text: Vec<Category>,
    /// Of images.
    pub image: Vec<Category>,
}

impl Scope {
    /// The categories of one of the two.
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
    /// The text or the image.
    pub content: Content<'a>,
    /// The categories to score. The provider can score all of them, and may answer more.
    pub categories: &'a [Category],
    /// The site's own policy, for providers that follow one.
    pub policy: Option<&'a str>,
    /// Whose content it is. None if it is nobody's: a sample, or a test of the configuration.
    pub team: Option<TeamId>,
}

/// What is shown to a provider.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A text, or a piece of one.
    Text(&'a str),
    /// An image within the provider's limits.
    Image(&'a Rendition),
}

impl Content<'_> {
    /// Which of the two it is.
    pub(crate) const fn modality(&self) -> Modality {
        match self {
            Self::Text(_) => Modality::Text,
            Self::Image(_) => Modality::Image,
        }
    }
}

/// What a provider answers.
#[derive(Debug, Default)]
pub struct Answer {
    /// Its scores, mapped to our categories.
    pub scores: Scores,
    /// The answer itself, as far as it is kept.
    pub raw: Option<String>,
    /// This answer used up the provider's limit for this time.
    pub spent: Option<Duration>,
}

/// How a provider may be asked.
#[derive(Clone, Debug)]
pub struct Access {
    /// Identifies the provider's address and key in the state that all workers share, without
    /// showing them.
    pub credential: String,
    /// Identifies everything in the configuration that can change an answer to the same text.
    pub fingerprint: Fingerprint,
    /// Requests that one process makes at the same time.
    pub concurrency: usize,
    /// How long one request may take.
    pub deadline: Duration,
    /// When it is paused.
    pub breaker: BreakerSettings,
}

/// The configured providers, in the operator's order of preference.
pub type Providers = Arc<[Arc<dyn Provider>]>;
