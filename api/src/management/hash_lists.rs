//! Hash lists: list, create, read, change, delete. What is done with what stands on them stands beside this file, one thing a
//! file.

mod entries;
mod image;
mod imports;
mod scans;
mod upload;

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{ActorId, HashListId, TeamId},
    image_hash::{ListKind, MAX_DISTANCE},
    name::Name,
    reason::Reason,
    scope::Scope,
    whole::Whole,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::hash_list::{self, HashListChange as Change, MAX_SHARED, NewHashList as New};
use uuid::Uuid;

use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    session::{self, Caller, Session, created, difference},
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

/// In how many bits hashes may differ.
type Distance = Whole<0, 31>;

const _: () = assert!(MAX_DISTANCE == 31, "the bound of `Distance`");

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

impl HashList {
    /// As the caller may see it.
    fn shown(list: hash_list::HashList, to: Option<TeamId>) -> Self {
        let whole = is_kept_by(&list, to);
        Self {
            id: list.id.as_uuid(),
            team_id: list.team.map(TeamId::as_uuid),
            name: list.name,
            description: (!list.description.is_empty()).then_some(list.description),
            kind: Member(list.kind),
            max_distance: list.max_distance,
            revision: list.revision,
            entry_count: whole.then_some(list.entries),
            created_by: list.created_by.filter(|_| whole).map(ActorId::as_uuid),
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
        let mut session = management.read(&caller, Scope::HashListsRead).await?;
        let part = Part::new(&limit, &cursor);
        let of = session.only_team();
        let mut lists = hash_list::list(session.conn(), of.into(), part.page()).await?;
        let more = lists.len() > part.limit();
        lists.truncate(part.limit());
        let last = lists.last().filter(|_| more).map(|list| list.id.as_uuid());
        let shown: Vec<HashList> = lists
            .into_iter()
            .map(|list| HashList::shown(list, of))
            .collect();
        Ok(Json(part.list_to(shown, last)))
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
        let new = request.value;
        let mut session = management.change(&caller, Scope::HashListsWrite).await?;
        let team = session.named_team(new.team_id.map(|team| team.0)).await?;
        let wanted = New {
            team,
            name: new.name.as_str(),
            description: new.description.as_ref().map_or("", |text| text.as_str()),
            kind: new.kind.0,
            max_distance: new.max_distance.as_ref().map_or(MAX_DISTANCE, bits),
            by: session.actor(),
        };
        let id = hash_list::create(session.conn(), wanted).await?;
        let id = id.ok_or_else(|| {
            let detail = format!("There are {MAX_SHARED} shared lists already, which is the most.");
            Refusal::new(Code::LimitReached, detail)
        })?;
        let to = session.only_team();
        let value = HashList::shown(find(&mut session, id).await?, to);
        let details = created(&value);
        record(session, Action::HashListCreate, team, id.as_uuid(), details).await?;
        Ok(Created {
            location: format!("{PREFIX}/hash-lists/{id}"),
            value,
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
        let mut session = management.read(&caller, Scope::HashListsRead).await?;
        let to = session.only_team();
        let list = find(&mut session, hash_list_id.0).await?;
        Ok(Json(HashList::shown(list, to)))
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
        let wish = request.value;
        let mut session = management.change(&caller, Scope::HashListsWrite).await?;
        let list = lock(&mut session, hash_list_id.0).await?;
        let (id, team, to) = (list.id, list.team, session.only_team());
        let description = wish.description.as_ref();
        let change = Change {
            name: wish.name.as_ref().map(|name| name.as_str()),
            description: description.map(|text| text.as_ref().map_or("", |text| text.as_str())),
            max_distance: wish.max_distance.as_ref().map(bits),
        };
        hash_list::change(session.conn(), id, change).await?;
        let before = HashList::shown(list, to);
        let after = HashList::shown(find(&mut session, id).await?, to);
        if let Some(details) = difference(&before, &after) {
            record(session, Action::HashListUpdate, team, id.as_uuid(), details).await?;
        }
        Ok(Json(after))
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
        let mut session = management.change(&caller, Scope::HashListsWrite).await?;
        let found = find(&mut session, hash_list_id.0).await?;
        require_keeper(&session, &found)?;
        let of = session.only_team();
        let locked = hash_list::lock_to_delete(session.conn(), of.into(), found.id).await?;
        let (list, groups) = locked.ok_or_else(unknown)?;
        if !groups.is_empty() {
            let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
            let detail = format!(
                "Rules of these groups name the list: {}.",
                groups.join(", ")
            );
            return Err(Refusal::new(Code::HashListInUse, detail));
        }
        hash_list::delete(session.conn(), list.id).await?;
        let details = json!({ "deleted": { "name": list.name, "entry_count": list.entries } });
        let (team, id) = (list.team, list.id.as_uuid());
        record(session, Action::HashListDelete, team, id, details).await?;
        Ok(NoContent)
    }
}

/// A list that the caller may know of.
async fn find(session: &mut Session, list: HashListId) -> Result<hash_list::HashList, Refusal> {
    let of = session.only_team();
    let list = hash_list::find(session.conn(), of.into(), list).await?;
    list.ok_or_else(unknown)
}

/// A list that the caller keeps: he sees what is on it, and changes it.
async fn keep(session: &mut Session, list: HashListId) -> Result<hash_list::HashList, Refusal> {
    let list = find(session, list).await?;
    require_keeper(session, &list)?;
    Ok(list)
}

/// A list that the caller keeps, and that nobody else changes meanwhile.
async fn lock(session: &mut Session, list: HashListId) -> Result<hash_list::HashList, Refusal> {
    let found = keep(session, list).await?;
    let of = session.only_team();
    let locked = hash_list::lock(session.conn(), of.into(), found.id).await?;
    locked.ok_or_else(unknown)
}

/// Whether what is on the list is this team's business, or, with none, an operator's.
fn is_kept_by(list: &hash_list::HashList, team: Option<TeamId>) -> bool {
    team.is_none() || list.team.is_some()
}

/// Teams use shared lists; operators keep them.
fn require_keeper(session: &Session, list: &hash_list::HashList) -> Result<(), Refusal> {
    if is_kept_by(list, session.only_team()) {
        Ok(())
    } else {
        Err(Refusal::new(
            Code::SharedList,
            "The list is shared: teams may use it, and operators see and change what is on it.",
        ))
    }
}

/// Records what was done, and commits.
async fn record(
    session: Session,
    action: Action,
    team: Option<TeamId>,
    target: Uuid,
    details: Value,
) -> Result<(), Refusal> {
    let change = session::Change {
        action,
        team,
        target,
        details,
    };
    Ok(session.commit(change).await?)
}

fn unknown() -> Refusal {
    Refusal::not_found("hash list")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a distance is from 0 to 31"
)]
fn bits(distance: &Member<Distance>) -> u32 {
    distance.0.get() as u32
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
