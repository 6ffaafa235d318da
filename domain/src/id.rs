//! Typed identifiers. All are UUIDs; the ones that Gatehouse makes are version 7, made by the caller, because this crate
//! has no clock.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// The id that is this UUID.
            pub const fn from_uuid(id: Uuid) -> Self {
                Self(id)
            }

            /// The bare UUID, for SQL parameters and wire formats.
            pub const fn as_uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(id: Uuid) -> Self {
                Self(id)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    )+};
}

ids! {
    /// A tenant: the unit of isolation, subscription and quota.
    TeamId,
    /// An application of a team; owns media, keys, endpoints and its webhook secret.
    SiteId,
    /// One submitted item.
    MediaId,
    /// A named set of rules of a team.
    RuleGroupId,
    /// One immutable version of a rule group.
    GroupVersionId,
    /// A replay of rules over items that were judged before.
    BacktestId,
    /// One rule inside a group; stays the same over the group's versions.
    RuleId,
    /// A webhook endpoint of a site.
    EndpointId,
    /// Something that happened to a media item; the `webhook-id` of all its deliveries.
    EventId,
    /// One event on its way to one endpoint; the `X-Service-Delivery-ID` of all its attempts.
    DeliveryId,
    /// A site key's record (never the key itself).
    SiteKeyId,
    /// A management token's record (never the token itself).
    TokenId,
    /// What a team may use.
    PlanId,
    /// One row of the audit log.
    AuditId,
}
