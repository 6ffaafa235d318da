//! Typed identifiers. All are UUIDs. The ones that Gatehouse makes are version 7, made by the
//! caller, because this crate has no clock.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
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

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
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
    /// Who did something: a management token, for example.
    ActorId,
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
    /// A backtest: old items judged again with other rules.
    BacktestId,
    /// One rule inside a group; stays the same over the group's versions.
    RuleId,
    /// A list of hashes of known pictures.
    HashListId,
    /// One hash on a list.
    HashEntryId,
    /// An import of a hash file into a hash list.
    HashImportId,
    /// A scan: a comparison of a hash list with stored images.
    HashScanId,
    /// A webhook endpoint of a site.
    EndpointId,
    /// A recovery: deliveries that are sent to an endpoint again.
    RecoveryId,
    /// Something that happened to a media item; the `webhook-id` of all its deliveries.
    EventId,
    /// One event on its way to one endpoint; the `X-Service-Delivery-ID` of all its attempts.
    DeliveryId,
    /// A site key's record (never the key itself).
    SiteKeyId,
    /// A management token's record (never the token itself).
    TokenId,
    /// A plan: what a team may use.
    PlanId,
    /// One row of the audit log.
    AuditId,
    /// Somebody who can sign in.
    UserId,
    /// A person's membership in a team. It is the actor of what the person does there.
    MemberId,
    /// A sign-in of a person.
    SessionId,
    /// A person at a provider of single sign-on, with whom an account is connected.
    IdentityId,
    /// A link that is used once: an invitation or a password reset.
    LinkId,
    /// A review: something that a person is asked to look at. It is random, so that it does not tell
    /// how old the item is.
    ReviewId,
    /// What one person said in a review.
    OpinionId,
    /// A policy of a team, by which its moderators reject.
    ReviewPolicyId,
    /// A note about an item.
    NoteId,
    /// A bulk decision: one decision about many reviews.
    BulkDecisionId,
    /// An erasure: everything that is stored about some items is removed.
    ErasureId,
    /// A key that signs certificates.
    SigningKeyId,
    /// A legal hold: nothing is removed of what it names.
    HoldId,
    /// An export: an archive of a site's data.
    ExportId,
    /// A closure: a site or a team is disabled at once, and erased after a grace.
    ClosureId,
}

impl EventId {
    /// The event of an item's acceptance. It follows from the item's id, so code that knows the
    /// item knows the event.
    pub fn of_acceptance(media: MediaId) -> Self {
        Self(derived(media.0, b"media.created"))
    }
}

impl DeliveryId {
    /// The delivery of an event to an endpoint. There is only one, no matter who sends it and how
    /// often.
    pub fn of(event: EventId, endpoint: EndpointId) -> Self {
        Self(derived(event.0, endpoint.0.as_bytes()))
    }
}

/// The id of a copy of something in another team. It is always the same, so a copy is found again.
pub fn of_copy(original: Uuid, team: TeamId) -> Uuid {
    derived(original, team.0.as_bytes())
}

/// An id that follows from another id. It keeps the time of that id, so that indexes grow at their
/// end, and takes the rest from a hash.
fn derived(from: Uuid, what: &[u8]) -> Uuid {
    const TIME: usize = 6;
    let hash = Sha256::new()
        .chain_update(from.as_bytes())
        .chain_update(what)
        .finalize();
    let mut bytes = *from.as_bytes();
    bytes[TIME..].copy_from_slice(&hash[TIME..size_of::<Uuid>()]);
    uuid::Builder::from_custom_bytes(bytes)
        .with_version(uuid::Version::SortRand)
        .into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_of_the_same_time_and_version_and_differ_by_what_they_follow_from() {
        let media = MediaId::from(Uuid::now_v7());
        let event = EventId::of_acceptance(media);
        assert_eq!(event, EventId::of_acceptance(media));
        let [one, other] = [1, 2].map(|n| EndpointId::from(Uuid::from_u128(n)));
        let ids = [
            media.as_uuid(),
            event.as_uuid(),
            DeliveryId::of(event, one).as_uuid(),
            DeliveryId::of(event, other).as_uuid(),
            DeliveryId::of(EventId::from(media.as_uuid()), one).as_uuid(),
        ];
        for (place, id) in ids.iter().enumerate() {
            assert_eq!(id.get_version_num(), 7);
            assert_eq!(id.get_variant(), uuid::Variant::RFC4122);
            assert_eq!(id.get_timestamp(), media.as_uuid().get_timestamp());
            assert!(!ids[..place].contains(id));
        }
    }
}
