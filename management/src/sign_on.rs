//! Single sign-on: the provider that authenticates people, and how its roles are read.

use std::{net::IpAddr, sync::Arc, time::Duration};

use oidc::Provider;
use shares::{Limit, Share, Shares, client};
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
            turns: Shares::new(AT_ONCE),
        }
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
