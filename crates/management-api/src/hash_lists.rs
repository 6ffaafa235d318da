//! Hash lists: list, create, read, change, delete. Everything else about them is in a module of its own.

mod entries;
mod image;
mod imports;
mod scans;

use api_common::{
    Code, Created, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time, given,
};
use domain::{
    id::{ActorId, HashListId, TeamId},
    image_hash::ListKind,
    name::Name,
    reason::Reason,
    scope::Scope,
};
use management::hash_lists::{self, Distance, VisibleHashList};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

/// The operations, noun by noun.
pub(super) type Nouns = (
    HashLists,
    entries::Entries,
    image::Images,
    imports::Imports,
    scans::Scans,
);

#[derive(Default)]
pub(crate) struct HashLists;

#[OpenApi(tag = "Tag::HashLists")]
impl HashLists {
    /// List hash lists
    ///
    /// Returns the oldest lists first. A team's token sees the lists of its team and the shared lists.
    #[oai(path = "/hash-lists", method = "get", operation_id = "listHashLists")]
    async fn list_hash_lists(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashList>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let lists = hash_lists::list(&caller, part.page()).await?;
        Ok(Json(part.list(lists, |list| list.id.as_uuid())))
    }

    /// Create a hash list
    ///
    /// The list is empty, and has no effect until a rule of the type `image_hash` names it. A team can have as many lists as its
    /// plan allows: 100, unless the plan says otherwise.
    #[oai(path = "/hash-lists", method = "post", operation_id = "createHashList")]
    async fn create_hash_list(
        &self,
        caller: Caller,
        request: JsonBody<NewHashList>,
    ) -> Result<Created<HashList>, Refusal> {
        let list = hash_lists::create(&caller, request.value.into()).await?;
        Ok(Created::at(
            format!("{PREFIX}/hash-lists/{}", list.id),
            list,
        ))
    }

    /// Read a hash list
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "get",
        operation_id = "getHashList"
    )]
    async fn get_hash_list(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
    ) -> Result<Json<HashList>, Refusal> {
        let list = hash_lists::get(&caller, hash_list_id.0).await?;
        Ok(Json(list.into()))
    }

    /// Change a hash list
    ///
    /// What matched before stays matched.
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "patch",
        operation_id = "updateHashList"
    )]
    async fn update_hash_list(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<HashListChange>,
    ) -> Result<Json<HashList>, Refusal> {
        let (list, change) = (hash_list_id.0, request.value.into());
        let list = hash_lists::update(&caller, list, change).await?;
        Ok(Json(list.into()))
    }

    /// Delete a hash list
    ///
    /// After that, nothing is compared with the list, and its name is free. You cannot delete a list that a rule of a live
    /// version, a shadow or a draft names. Earlier versions of rule groups may still name it; they cannot become live any more.
    /// Imports and scans of the list stop. What it has matched is kept and still counts when items are judged.
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "delete",
        operation_id = "deleteHashList"
    )]
    async fn delete_hash_list(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
    ) -> Result<NoContent, Refusal> {
        hash_lists::delete(&caller, hash_list_id.0).await?;
        Ok(NoContent)
    }
}

fn list_example() -> Value {
    json!({
        "id": example_values::HASH_LIST,
        "team_id": example_values::TEAM,
        "name": "Removed before",
        "description": "Images that moderators have rejected.",
        "kind": "deny",
        "max_distance": 31,
        "revision": 12,
        "entry_count": 1_204,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let list = list_example();
    let own = vec![
        Operation::new("listHashLists", Scope::HashListsRead).answer(example_values::list(&list)),
        Operation::new("createHashList", Scope::HashListsWrite)
            .problems(&[Code::NameTaken, Code::LimitReached])
            .request(json!({
                "name": "Removed before",
                "description": "Images that moderators have rejected.",
                "kind": "deny",
                "max_distance": 31,
                "team_id": example_values::TEAM,
            }))
            .answer(list.clone()),
        Operation::new("getHashList", Scope::HashListsRead).answer(list.clone()),
        Operation::new("updateHashList", Scope::HashListsWrite)
            .problems(&[Code::NameTaken, Code::SharedList])
            .request(json!({ "max_distance": 20 }))
            .answer(list),
        Operation::new("deleteHashList", Scope::HashListsWrite)
            .problems(&[Code::HashListInUse, Code::SharedList]),
    ];
    [
        own,
        entries::descriptions(),
        image::descriptions(),
        imports::descriptions(),
        scans::descriptions(),
    ]
    .concat()
}

/// A list of hashes of known images.
#[derive(Serialize, Schema)]
pub(crate) struct HashList {
    /// The ID of the hash list.
    id: Uuid,
    /// The team that owns it. `null` means that all teams share it and operators maintain it.
    #[schema(nullable)]
    team_id: Option<Uuid>,
    /// The list's name. Names are unique within a team, and among shared lists.
    name: String,
    /// A description of the list.
    #[schema(nullable)]
    description: Option<String>,
    /// What it means that an image is on the list. It never changes.
    kind: Field<ListKind>,
    /// An image counts as on the list if its PDQ hash differs from an entry in at most this many bits.
    max_distance: u32,
    /// The revision of the list. It grows with each change of its entries.
    revision: i64,
    /// The number of entries. `null` if you may not see them.
    #[schema(nullable)]
    entry_count: Option<i64>,
    /// The token that created it. `null` if you may not know it.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashList {
    /// The list's name. No other list of the team, or no other shared list, may have the same name.
    name: Field<Name>,
    /// A description of the list.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HashListChange {
    /// The list's new name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// The list's new description. `null` removes it.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
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
