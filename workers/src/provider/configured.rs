//! All providers of this process, in the operator's order.

use std::time::Duration;

use database::Trouble;
use queue::Waits;
use store::{
    PgPool,
    provider::{Registration, Spent, register, spend},
};
use telemetry::{failed, over};
use tokio::time::{MissedTickBehavior, interval};

use super::{Providers, limited_provider::LimitedProvider};

/// How often the metrics of each provider's state are updated.
const LOOK: Duration = Duration::from_secs(10);
/// After this many updates, the process reports its providers.
const TELL: u32 = 6;

/// The providers of this process.
pub(crate) struct ConfiguredProviders {
    providers: Vec<LimitedProvider>,
    pool: PgPool,
    /// Jobs that wait for one of them.
    waits: Waits,
    /// Reporting the providers.
    reporting: Trouble,
    /// Storing their costs.
    storing: Trouble,
}

impl ConfiguredProviders {
    pub(crate) fn new(providers: &Providers, pool: PgPool, waits: Waits) -> Self {
        let providers = providers.iter().cloned();
        Self {
            providers: providers
                .map(|provider| LimitedProvider::new(provider, &pool, &waits))
                .collect(),
            pool,
            waits,
            reporting: Trouble::in_turn(),
            storing: Trouble::in_turn(),
        }
    }

    /// The provider with this name.
    pub(crate) fn find(&self, name: &str) -> Option<&LimitedProvider> {
        self.providers
            .iter()
            .find(|provider| provider.name() == name)
    }

    /// The names, in the operator's order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.providers.iter().map(LimitedProvider::name)
    }

    /// Where jobs say that they wait for a provider.
    pub(crate) fn waits(&self) -> &Waits {
        &self.waits
    }

    /// The names of those that look only for a little in an image.
    pub(crate) fn narrow(&self) -> Vec<&str> {
        let narrow = self.providers.iter();
        let narrow = narrow.filter(|provider| provider.profile().is_narrow);
        narrow.map(LimitedProvider::name).collect()
    }

    /// Reports this process's providers and their states until it is dropped.
    pub(crate) async fn tell(&self) {
        let mut ticks = interval(LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for tick in 0_u32.. {
            ticks.tick().await;
            if tick % TELL == 0 {
                match register(&self.pool, &self.registrations()).await {
                    Ok(()) => over!(
                        self.reporting.worked(),
                        "this process's providers are reported again"
                    ),
                    Err(error) => failed!(
                        self.reporting.failed(&error),
                        %error,
                        "could not report this process's providers; trying again"
                    ),
                }
                self.store_costs().await;
            }
            for provider in &self.providers {
                provider.look().await;
            }
        }
    }

    /// Stores what the providers cost since the last time. If that fails, the next time stores it.
    pub(crate) async fn store_costs(&self) {
        let taken: Vec<_> = self
            .providers
            .iter()
            .map(|provider| (provider, provider.profile().cost_counter.take()))
            .collect();
        let spent: Vec<Spent> = taken
            .iter()
            .flat_map(|(provider, amounts)| {
                amounts.iter().map(|(what, amount)| Spent {
                    provider: provider.name().to_owned(),
                    what: (*what).to_owned(),
                    amount: i64::try_from(*amount).unwrap_or(i64::MAX),
                })
            })
            .collect();
        match spend(&self.pool, &spent).await {
            Ok(()) => over!(
                self.storing.worked(),
                "what the providers cost is stored again"
            ),
            Err(error) => {
                failed!(
                    self.storing.failed(&error),
                    %error,
                    "could not store what the providers cost; trying again"
                );
                for (provider, amounts) in taken {
                    provider.profile().cost_counter.put_back(amounts);
                }
            }
        }
    }

    fn registrations(&self) -> Vec<Registration> {
        let registration = |provider: &LimitedProvider| {
            let profile = provider.profile();
            Registration {
                name: profile.name.clone(),
                kind: profile.kind,
                categories: profile.scope.text.clone(),
                image_categories: profile.scope.image.clone(),
            }
        };
        self.providers.iter().map(registration).collect()
    }
}
