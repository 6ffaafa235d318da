//! The providers that a site can choose from.

mod health;

use api_common::{
    field::{Field, Time},
    problem::Refusal,
    response::Json,
};
use domain::{scope::Scope, score::Category};
use management::providers::{self, Health};
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use store::provider;

use self::health::ProviderHealth;
use super::{
    Tag,
    caller::Caller,
    openapi::{Operation, example_values},
};

/// Every provider that workers are configured with.
#[derive(Serialize, Object)]
pub(super) struct KnownProviders {
    /// The providers, in the operator's order of preference.
    data: Vec<KnownProvider>,
}

/// A provider that workers are configured with.
#[derive(Serialize, Object)]
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
    #[oai(nullable)]
    paused_until: Option<Field<Time>>,
    /// When a worker last reported it. Each worker does so once a minute. A provider that no worker
    /// reports disappears after a day.
    seen_at: Field<Time>,
    /// Failures, breakers and limits, over all workers and teams. `null` for teams: only operators
    /// see it.
    #[oai(nullable)]
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

pub(crate) struct Providers;

#[OpenApi(tag = "Tag::Providers")]
impl Providers {
    /// List providers
    ///
    /// Returns the providers that workers are configured with. Their addresses and keys are not
    /// shown. Operators also see the state of each provider.
    #[oai(path = "/providers", method = "get", operation_id = "listProviders")]
    async fn list_providers(&self, caller: Caller) -> Result<Json<KnownProviders>, Refusal> {
        let survey = providers::list(&caller.management, &caller).await?;
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
    vec![
        Operation::new("listProviders", Scope::SitesRead)
            .answer(json!({ "data": [provider] })),
    ]
}
