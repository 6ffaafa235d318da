//! The providers that a site can choose from.

use api_common::{Field, Json, Refusal, Schema, Time};
use domain::{breaker::BreakerState, scope::Scope, score::Category, throttle::Throttle};
use management::providers::{self, Health};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::provider::{self, Cost, CredentialStatus, Recent};

use super::{Caller, Operation, Tag, example_values};

/// Every provider that workers are configured with.
#[derive(Serialize, Schema)]
pub(super) struct KnownProviders {
    /// The providers, in the operator's order of preference.
    data: Vec<KnownProvider>,
}

/// A provider that workers are configured with.
#[derive(Serialize, Schema)]
struct KnownProvider {
    /// The name of the provider. Sites choose it by this name.
    name: String,
    /// The kind of provider. More kinds may be added.
    kind: String,
    /// The categories that it can score in texts. If no provider of a site can score a category,
    /// rules about this category never match.
    categories: Vec<Field<Category>>,
    /// The categories that it can score in images.
    image_categories: Vec<Field<Category>>,
    /// Until when no requests are sent to it, because it limits requests or keeps failing. `null`
    /// if requests are sent.
    #[schema(nullable)]
    paused_until: Option<Field<Time>>,
    /// When a worker last reported it. Each worker does so once a minute. A provider that no worker
    /// reports disappears after a day.
    seen_at: Field<Time>,
    /// Failures, breakers and limits, over all workers and teams. `null` for teams: only operators
    /// see it.
    #[schema(nullable)]
    health: Option<ProviderHealth>,
}

impl KnownProvider {
    fn of(provider: provider::KnownProvider, health: Option<&Health>) -> Self {
        Self {
            health: health.map(|health| ProviderHealth::of(&provider.name, health)),
            name: provider.name,
            kind: provider.kind,
            categories: provider.categories.into_iter().map(Field).collect(),
            image_categories: provider.image_categories.into_iter().map(Field).collect(),
            paused_until: provider.paused_until.map(Field::from),
            seen_at: provider.seen_at.into(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Providers;

#[OpenApi(tag = "Tag::Providers")]
impl Providers {
    /// List providers
    ///
    /// Returns the providers that workers are configured with. Their addresses and keys are not
    /// shown. Operators also see the state of each provider.
    #[oai(path = "/providers", method = "get", operation_id = "listProviders")]
    async fn list_providers(&self, caller: Caller) -> Result<Json<KnownProviders>, Refusal> {
        let survey = providers::list(&caller).await?;
        let health = survey.health.as_ref();
        let providers = survey.providers.into_iter();
        Ok(Json(KnownProviders {
            data: providers
                .map(|provider| KnownProvider::of(provider, health))
                .collect(),
        }))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let provider = json!({
        "name": "openai",
        "kind": "openai",
        "categories": [
            "adult", "violence", "hate", "self_harm", "harassment", "sexual_minors", "illicit",
        ],
        "image_categories": ["adult", "violence", "self_harm"],
        "paused_until": null,
        "seen_at": example_values::CREATED_AT,
        "health": {
            "credentials": [{
                "breaker": "closed",
                "failures": 1,
                "openings": 0,
                "open_until": null,
                "paused_until": null,
                "limit": {
                    "from_bytes": 4_096,
                    "met": 1,
                    "passed": 0,
                    "until": example_values::CREATED_AT,
                },
                "changed_at": example_values::CREATED_AT,
            }],
            "recently_asked": 480,
            "recently_failed": 2,
            "recent_mean_ms": 212,
            "recently_failed_at": example_values::CREATED_AT,
            "costs": [
                { "what": "text_requests", "today": 4_211, "last_30_days": 126_040 },
                { "what": "input_tokens", "today": 901_154, "last_30_days": 26_972_560 },
            ],
        },
    });
    vec![Operation::new("listProviders", Scope::SitesRead).answer(json!({ "data": [provider] }))]
}

/// The most credentials of a provider in an answer.
const MOST: usize = 20;

/// The state of a provider, as far as all workers know it together.
#[derive(Serialize, Schema)]
struct ProviderHealth {
    /// Its credentials whose state changed within a day, the latest changed first, at most 20.
    /// Workers with the same address and key share a credential. A credential that never failed is
    /// not in the list.
    credentials: Vec<ProviderCredential>,
    /// How often it was asked in the latest 500 analyses of all teams, as far as these ended within
    /// an hour. Reused answers do not count.
    recently_asked: i64,
    /// How often it failed for good in these.
    recently_failed: i64,
    /// The mean time of its answers in these, in milliseconds. `null` if there is none.
    #[schema(nullable)]
    recent_mean_ms: Option<i64>,
    /// When it failed last in these. `null` if it did not.
    #[schema(nullable)]
    recently_failed_at: Option<Field<Time>>,
    /// What it cost all teams together: requests, and the tokens and units that it reports. Close
    /// to a bill, and none: a worker that is killed has not stored its last minute. Empty if it was
    /// never asked, and for the built-in provider, which costs nothing.
    costs: Vec<ProviderCost>,
}

impl ProviderHealth {
    fn of(provider: &str, health: &Health) -> Self {
        let recent: Option<&Recent> = health.recent.iter().find(|of| of.provider == provider);
        let conditions = health.conditions.iter();
        let conditions = conditions.filter(|of| of.provider == provider);
        let costs = health.costs.iter().filter(|of| of.provider == provider);
        Self {
            credentials: conditions
                .take(MOST)
                .map(ProviderCredential::from)
                .collect(),
            costs: costs.map(ProviderCost::from).collect(),
            recently_asked: recent.map_or(0, |recent| recent.asked),
            recently_failed: recent.map_or(0, |recent| recent.failed),
            recent_mean_ms: recent.and_then(|recent| recent.mean_ms),
            recently_failed_at: recent.and_then(|recent| recent.failed_at).map(Field::from),
        }
    }
}

/// A part of what a provider cost.
#[derive(Serialize, Schema)]
struct ProviderCost {
    /// `text_requests`, `image_requests`, `input_tokens`, `output_tokens`, or the provider's name
    /// of a unit that it charges.
    what: String,
    /// How many today, in UTC.
    today: i64,
    /// How many in 30 days, of which today is the last.
    last_30_days: i64,
}

impl From<&Cost> for ProviderCost {
    fn from(cost: &Cost) -> Self {
        Self {
            what: cost.what.clone(),
            today: cost.today,
            last_30_days: cost.month,
        }
    }
}

/// The state of one credential of a provider. The credential itself is never shown.
#[derive(Serialize, Schema)]
struct ProviderCredential {
    /// The circuit breaker.
    breaker: Field<BreakerState>,
    /// Failures since the last success.
    failures: i64,
    /// How often the breaker opened since it was last closed.
    openings: i64,
    /// Until when the breaker is open, or was. `null` if it is closed.
    #[schema(nullable)]
    open_until: Option<Field<Time>>,
    /// Until when the provider asked us to send nothing. `null` if it did not, or if that time is
    /// over.
    #[schema(nullable)]
    paused_until: Option<Field<Time>>,
    /// The limit on our requests that the provider reported. `null` if none is known.
    #[schema(nullable)]
    limit: Option<ProviderLimit>,
    /// When the state last changed.
    changed_at: Field<Time>,
}

impl From<&CredentialStatus> for ProviderCredential {
    fn from(condition: &CredentialStatus) -> Self {
        let state = &condition.state;
        let paused_until = state.paused_until.filter(|until| *until > condition.at);
        Self {
            breaker: Field(state.breaker.state(condition.at)),
            failures: state.breaker.failures.into(),
            openings: state.breaker.openings.into(),
            open_until: state.breaker.open_until.map(Field::from),
            paused_until: paused_until.map(Field::from),
            limit: ProviderLimit::of(&state.throttle),
            changed_at: condition.changed_at.into(),
        }
    }
}

/// A limit on our requests that a provider reported.
#[derive(Serialize, Schema)]
struct ProviderLimit {
    /// Bytes of the smallest request that is held back. Smaller requests are sent.
    from_bytes: i64,
    /// How many times in a row the limit was met.
    met: i64,
    /// How many requests in a row have passed since. After three, the limit is over.
    passed: i64,
    /// Until when such requests are held back. After that, one at a time is sent.
    until: Field<Time>,
}

impl ProviderLimit {
    fn of(throttle: &Throttle) -> Option<Self> {
        Some(Self {
            from_bytes: throttle.from_bytes.into(),
            met: throttle.met.into(),
            passed: throttle.passed.into(),
            until: throttle.until?.into(),
        })
    }
}
