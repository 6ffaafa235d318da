//! Single sign-on: the provider that authenticates people, and how its roles are read.

use std::{net::IpAddr, sync::Arc, time::Duration};

use domain::email::{Domain, Email};
use fair_share::{Limit, Share, Shares, client};
use oidc::Provider;
use tokio::time::timeout;

use crate::Refused;

/// How many sign-ins ask the provider at once. Every stranger can cause one.
const AT_ONCE: usize = 16;
/// How long a sign-in waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The provider of single sign-on.
#[derive(Debug)]
pub struct SignOn {
    pub(crate) provider: Provider,
    name: String,
    /// What roles begin with in the provider's claim.
    pub(crate) prefix: String,
    /// The domains whose addresses belong to the provider.
    domains: Vec<Domain>,
    /// By address. For IPv6, by network, because one client has a whole network of addresses.
    turns: Arc<Shares<IpAddr>>,
}

impl SignOn {
    /// Sign-ins at this provider. People know it by `name`; the values of its claim that begin with `prefix` are roles.
    pub fn new(provider: Provider, name: String, prefix: String) -> Self {
        Self {
            provider,
            name,
            prefix,
            domains: Vec::new(),
            turns: Shares::new(AT_ONCE),
        }
    }

    /// The addresses of these domains belong to the provider: it says whose they are.
    #[must_use]
    pub fn owning(self, domains: Vec<Domain>) -> Self {
        Self { domains, ..self }
    }

    /// Whether the address belongs to the provider.
    pub(crate) fn owns(&self, email: &Email) -> bool {
        self.domains.iter().any(|domain| email.is_of(domain))
    }

    /// What people call the provider.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn issuer(&self) -> &str {
        self.provider.issuer().as_str()
    }

    /// Waits until an address may ask the provider. Addresses take turns.
    ///
    /// # Errors
    /// It is not the address's turn in time.
    pub(crate) async fn turn(&self, address: IpAddr) -> Result<Share<IpAddr>, Refused> {
        let turn = self.turns.take(client(address), 1, Limit::Fair);
        timeout(PATIENCE, turn)
            .await
            .map_err(|_| Refused::Overloaded)
    }
}
