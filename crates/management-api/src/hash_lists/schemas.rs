//! Hash lists in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{
    id::{ActorId, TeamId},
    image_hash::ListKind,
    name::Name,
    reason::Reason,
};
use management::hash_lists::{self, Distance, VisibleHashList};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A list of hashes of known images.
#[derive(Serialize, Object)]
pub(crate) struct HashList {
    /// The ID of the hash list.
    id: Uuid,
    /// The team that owns it. `null` means that all teams share it and operators maintain it.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// The list's name. Names are unique within a team, and among shared lists.
    name: String,
    /// A description of the list.
    #[oai(nullable)]
    description: Option<String>,
    /// What it means that an image is on the list. It never changes.
    kind: Field<ListKind>,
    /// An image counts as on the list if its PDQ hash differs from an entry in at most this many bits.
    max_distance: u32,
    /// The revision of the list. It grows with each change of its entries.
    revision: i64,
    /// The number of entries. `null` if you may not see them.
    #[oai(nullable)]
    entry_count: Option<i64>,
    /// The token that created it. `null` if you may not know it.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<VisibleHashList> for HashList {
    fn from(list: VisibleHashList) -> Self {
        Self {
            id: list.id.as_uuid(),
            team_id: list.team.map(TeamId::as_uuid),
            name: list.name,
            description: list.description,
            kind: Field(list.kind),
            max_distance: list.max_distance,
            revision: list.revision,
            entry_count: list.entry_count,
            created_by: list.created_by.map(ActorId::as_uuid),
            created_at: list.created_at.into(),
        }
    }
}

/// A hash list to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashList {
    /// The list's name. No other list of the team, or no other shared list, may have the same name.
    name: Field<Name>,
    /// A description of the list.
    #[oai(nullable)]
    description: Option<Field<Reason>>,
    /// What it means that an image is on the list. You cannot change it later.
    kind: Field<ListKind>,
    /// An image counts as on the list if its PDQ hash differs from an entry in at most this many bits. The default is 31. With 0,
    /// only images that look the same count.
    #[serde(default, deserialize_with = "given")]
    max_distance: Option<Field<Distance>>,
    /// The team that will own it. If omitted, it is the team of the token. If an operator omits it, all teams share the list.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
}

impl From<NewHashList> for hash_lists::NewHashList {
    fn from(new: NewHashList) -> Self {
        Self {
            name: new.name.0,
            description: new.description.map(|text| text.0),
            kind: new.kind.0,
            max_distance: new.max_distance.map(|bits| bits.0),
            team: new.team_id.map(|team| team.0),
        }
    }
}

/// Fields of a hash list to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashListChange {
    /// The list's new name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// The list's new description. `null` removes it.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    description: Option<Option<Field<Reason>>>,
    /// An image counts as on the list if its PDQ hash differs from an entry in at most this many bits. The change applies to
    /// images that are submitted from now on.
    #[serde(default, deserialize_with = "given")]
    max_distance: Option<Field<Distance>>,
}

impl From<HashListChange> for hash_lists::HashListChange {
    fn from(change: HashListChange) -> Self {
        let description = change.description;
        Self {
            name: change.name.map(|name| name.0),
            description: description.map(|text| text.map(|text| text.0)),
            max_distance: change.max_distance.map(|bits| bits.0),
        }
    }
}
