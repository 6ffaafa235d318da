//! What the provider states about the person who signs in, as far as it can be stored.

use chrono::{DateTime, Utc};
use domain::{email::Email, name::Name, subject::Subject};
use oidc::Identity;
use store::person::sso_identity::Address;
use tracing::warn;

use super::{
    NotSignedOn,
    memberships::{Wanted, wanted},
};
use crate::{AnonymousCaller, SignOn};

/// How much of a name is kept.
const LONGEST_NAME: usize = 100;

/// What the provider states. Each text of it was checked: nothing else of the provider's answer reaches the database.
#[derive(Debug)]
pub(super) struct IdentityClaims {
    pub(super) subject: Subject,
    /// The address, unless there is none, or the provider calls it unverified.
    pub(super) email: Option<Email>,
    /// Whether the provider calls the address verified. Many say nothing about it.
    pub(super) is_verified: bool,
    name: Option<Name>,
    pub(super) wanted: Wanted,
    pub(super) is_strong: bool,
    pub(super) authenticated_at: Option<DateTime<Utc>>,
}

impl IdentityClaims {
    /// # Errors
    /// Its name of the person cannot be stored.
    pub(super) fn of(
        identity: &Identity,
        sign_on: &SignOn,
        anonymous_caller: &AnonymousCaller,
    ) -> Result<Self, NotSignedOn> {
        let subject = identity.subject.parse::<Subject>().map_err(|wrong| {
            warn!(address = %anonymous_caller.address, "the ID token's subject {wrong}");
            NotSignedOn::Untrusted
        })?;
        let email = identity.email.as_deref();
        let email: Option<Email> = email.and_then(|email| email.trim().parse().ok());
        let name = identity.name.as_deref().unwrap_or_default();
        let shown: String = name.trim().chars().take(LONGEST_NAME).collect();
        Ok(Self {
            subject,
            is_verified: identity.is_verified && email.is_some(),
            email,
            name: shown.trim().parse().ok(),
            wanted: wanted(&identity.roles, &sign_on.prefix),
            is_strong: identity.is_strong,
            authenticated_at: identity.authenticated_at,
        })
    }

    /// What it states about the address.
    pub(super) fn address(&self) -> Address<'_> {
        Address {
            email: self.email.as_ref(),
            is_verified: self.is_verified,
        }
    }

    /// The person's name, or the address if there is none that can be shown.
    pub(super) fn name_or(&self, email: &Email) -> Name {
        let address = || {
            email
                .as_str()
                .chars()
                .take(LONGEST_NAME)
                .collect::<String>()
                .parse()
                .expect("an address of printable ASCII is a name")
        };
        self.name.clone().unwrap_or_else(address)
    }
}
