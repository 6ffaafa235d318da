//! The providers that sites can choose from: list.

use domain::scope::Scope;
use store::provider;
pub use store::provider::{Cost, CredentialStatus, KnownProvider, Recent};

use crate::{Caller, Refused, boxed};

/// The providers, and for operators the state of each.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The providers that workers are configured with, in the operator's order.
    pub providers: Vec<KnownProvider>,
    /// `None` for teams: it shows what all teams together do.
    pub health: Option<Health>,
}

/// The state of the providers, as far as it is stored.
#[derive(Clone, Debug)]
pub struct Health {
    /// The states of their credentials.
    pub conditions: Vec<CredentialStatus>,
    /// How often they answered and failed of late.
    pub recent: Vec<Recent>,
    /// What they cost.
    pub costs: Vec<Cost>,
}

/// The providers that workers are configured with, in the operator's order.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller) -> Result<Survey, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    let is_operator = session.only_team().is_none();
    let conn = session.conn();
    let providers = provider::list(conn).await?;
    let health = if is_operator {
        Some(Health {
            conditions: provider::credential_statuses(conn).await?,
            recent: provider::recent(conn).await?,
            costs: provider::costs(conn).await?,
        })
    } else {
        None
    };
    Ok(Survey { providers, health })
}
