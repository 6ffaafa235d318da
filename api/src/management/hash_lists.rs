//! Hash lists: list, create, read, change, delete. What is done with what stands on them stands beside this file, one thing a
//! file.

mod entries;
mod image;
mod imports;
mod scans;
mod upload;

use std::sync::Arc;

use domain::{
    id::{ActorId, HashListId, TeamId},
    image_hash::ListKind,
    name::Name,
    reason::Reason,
    scope::Scope,
};
use management::{
    Management,
    hash_lists::{self, Distance, VisibleHashList},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    PREFIX, Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
};
use crate::{
    answer::{Created, Json, NoContent},
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// The operations, noun by noun.
pub(super) type Nouns = (
    HashLists,
    entries::Entries,
    image::Images,
    imports::Imports,
    scans::Scans,
);

pub(super) fn nouns() -> Nouns {
    (
        HashLists,
        entries::Entries,
        image::Images,
        imports::Imports,
        scans::Scans,
    )
}

/// A list of hashes of known images.
#[derive(Serialize, Object)]
pub(super) struct HashList {
    /// The list.
    id: Uuid,
    /// Its team; null: it is shared by all, and operators keep it.
    #[oai(nullable)]
    team_id: Option<Uuid>,
    /// What it is called; unique in its team, and among the shared ones.
    name: String,
    /// What else is said of it.
    #[oai(nullable)]
    description: Option<String>,
    /// What it means to be on it. It never changes.
    kind: Member<ListKind>,
    /// The most bits in which an image that is on it may differ from a PDQ hash.
    max_distance: u32,
    /// Counts the changes of its entries.
    revision: i64,
    /// How many entries it has; null where the caller may not see them.
    #[oai(nullable)]
    entry_count: Option<i64>,
    /// The token with which it was created; null where the caller may not know.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Member<Time>,
}

impl From<VisibleHashList> for HashList {
    fn from(list: VisibleHashList) -> Self {
        Self {
            id: list.id.as_uuid(),
            team_id: list.team.map(TeamId::as_uuid),
            name: list.name,
            description: list.description,
            kind: Member(list.kind),
            max_distance: list.max_distance,
            revision: list.revision,
            entry_count: list.entry_count,
            created_by: list.created_by.map(ActorId::as_uuid),
            created_at: list.created_at.into(),
        }
    }
}

/// A hash list to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewHashList {
    /// What it is to be called; no other list of the team, or no other shared one, may be called so.
    name: Member<Name>,
    /// What else is to be said of it.
    #[oai(nullable)]
    description: Option<Member<Reason>>,
    /// What it means to be on it. It cannot be changed later.
    kind: Member<ListKind>,
    /// The most bits in which an image that is on it may differ from a PDQ hash; 31 if nothing is said. 0 is the same look only.
    #[serde(default, deserialize_with = "given")]
    max_distance: Option<Member<Distance>>,
    /// Its team. Without, it is the caller's own; an operator who names none creates a list that all teams share.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Member<TeamId>>,
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

/// What is to be otherwise of a hash list.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct HashListChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
    /// What else is to be said of it; null is nothing.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    description: Option<Option<Member<Reason>>>,
    /// The most bits in which an image that is on it may differ from a PDQ hash. It holds for images that come from now on.
    #[serde(default, deserialize_with = "given")]
    max_distance: Option<Member<Distance>>,
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

pub(crate) struct HashLists;

#[OpenApi(tag = "Tag::HashLists")]
impl HashLists {
    /// List hash lists
    ///
    /// The oldest first. A team's token sees those of its team and the shared ones.
    #[oai(path = "/hash-lists", method = "get", operation_id = "listHashLists")]
    async fn list_hash_lists(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<HashList>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let lists = hash_lists::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(lists, |list| list.id.as_uuid())))
    }

    /// Create a hash list
    ///
    /// It is empty, and nothing happens before a rule of the type `image_hash` names it. A team has as many lists
    /// as its plan allows: 100, unless it says otherwise.
    #[oai(path = "/hash-lists", method = "post", operation_id = "createHashList")]
    async fn create_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewHashList>,
    ) -> Result<Created<HashList>, Refusal> {
        let list = hash_lists::create(&management, &caller, request.value.into()).await?;
        Ok(Created {
            location: format!("{PREFIX}/hash-lists/{}", list.id),
            value: list.into(),
        })
    }

    /// Read a hash list
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "get",
        operation_id = "getHashList"
    )]
    async fn get_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
    ) -> Result<Json<HashList>, Refusal> {
        let list = hash_lists::get(&management, &caller, hash_list_id.0).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<HashListChange>,
    ) -> Result<Json<HashList>, Refusal> {
        let (list, change) = (hash_list_id.0, request.value.into());
        let list = hash_lists::update(&management, &caller, list, change).await?;
        Ok(Json(list.into()))
    }

    /// Delete a hash list
    ///
    /// Nothing is matched with it any more, and its name is free. One that a rule names is not deleted, be it in a live version,
    /// in a shadow or in a draft. Earlier versions of rule groups may name it, and cannot become live then. Imports and scans of
    /// the list stop; what it matched is kept and judged by.
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "delete",
        operation_id = "deleteHashList"
    )]
    async fn delete_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
    ) -> Result<NoContent, Refusal> {
        hash_lists::delete(&management, &caller, hash_list_id.0).await?;
        Ok(NoContent)
    }
}

fn list_example() -> Value {
    json!({
        "id": example::HASH_LIST,
        "team_id": example::TEAM,
        "name": "Removed before",
        "description": "Images that moderators have rejected.",
        "kind": "deny",
        "max_distance": 31,
        "revision": 12,
        "entry_count": 1_204,
        "created_by": example::TOKEN,
        "created_at": example::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let list = list_example();
    let own = vec![
        Operation {
            answer: Some(example::list(&list)),
            ..Operation::new("listHashLists", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Removed before",
                "description": "Images that moderators have rejected.",
                "kind": "deny",
                "max_distance": 31,
                "team_id": example::TEAM,
            })),
            answer: Some(list.clone()),
            ..Operation::new("createHashList", Scope::HashListsWrite)
        },
        Operation {
            answer: Some(list.clone()),
            ..Operation::new("getHashList", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::SharedList],
            request: Some(json!({ "max_distance": 20 })),
            answer: Some(list),
            ..Operation::new("updateHashList", Scope::HashListsWrite)
        },
        Operation {
            problems: &[Code::HashListInUse, Code::SharedList],
            ..Operation::new("deleteHashList", Scope::HashListsWrite)
        },
    ];
    [
        own,
        entries::described(),
        image::described(),
        imports::described(),
        scans::described(),
    ]
    .concat()
}
