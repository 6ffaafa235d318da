//! Hash lists: list, create, read, change, delete. Everything else about them is in a module of its own.
//!
//! A list belongs to a team, or it is shared by all teams. Teams can use shared lists; only
//! operators can see and change their entries.

pub mod entries;
pub mod imports;
pub mod scans;

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    bounded_integer::BoundedInteger,
    id::{ActorId, HashListId, TeamId},
    image_hash::{ListKind, MAX_DISTANCE},
    name::Name,
    reach::Reach,
    reason::Reason,
    scope::Scope,
};
use serde::Serialize;
use serde_json::json;
pub use store::hash_list::MAX_ENTRIES;
use store::{
    hash_list::{self, HashList, MAX_SHARED},
    page::Page,
};

use crate::{
    Caller, Conflict, Forbidden, Noun, Refused, Session, boxed, created, difference, record,
};

/// In how many bits hashes may differ.
pub type Distance = BoundedInteger<0, 31>;

const _: () = assert!(MAX_DISTANCE == 31, "the bound of `Distance`");

/// A hash list to create.
#[derive(Debug)]
pub struct NewHashList {
    /// Its name.
    pub name: Name,
    /// Its description.
    pub description: Option<Reason>,
    /// What it means that an image is on the list. It never changes.
    pub kind: ListKind,
    /// In how many bits the PDQ hash of an image can differ from an entry. The default is 31.
    pub max_distance: Option<Distance>,
    /// Its team. If `None`, it is the team of the caller; for an operator, the list is shared.
    pub team: Option<TeamId>,
}

/// Fields of a hash list to change. Fields that are `None` keep their value.
#[derive(Debug, Default)]
pub struct HashListChange {
    /// Its name.
    pub name: Option<Name>,
    /// Its description. An inner `None` removes it.
    pub description: Option<Option<Reason>>,
    /// In how many bits the PDQ hash of an image can differ from an entry. It applies to images
    /// that come later.
    pub max_distance: Option<Distance>,
}

/// The team's hash lists and the shared ones, the oldest first; for operators, all of them.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<VisibleHashList>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let reach = session.reach();
    let lists = hash_list::list(session.conn(), reach, page).await?;
    let lists = lists.into_iter();
    Ok(lists
        .map(|list| VisibleHashList::new(list, reach))
        .collect())
}

/// The hash lists that all teams share, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn shared(caller: &Caller, page: Page) -> Result<Vec<VisibleHashList>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let reach = session.reach();
    let lists = hash_list::shared(session.conn(), page).await?;
    let lists = lists.into_iter();
    Ok(lists
        .map(|list| VisibleHashList::new(list, reach))
        .collect())
}

/// Creates an empty hash list.
///
/// # Errors
/// The caller may not do it; the team does not exist; the name is taken; the limit of lists is
/// reached.
#[boxed]
pub async fn create(caller: &Caller, new: NewHashList) -> Result<VisibleHashList, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let team = session.named_team(new.team).await?;
    let wanted = hash_list::NewHashList {
        team,
        name: new.name.as_str(),
        description: new.description.as_ref().map_or("", Reason::as_str),
        kind: new.kind,
        max_distance: new.max_distance.map_or(MAX_DISTANCE, bits),
        by: session.actor(),
    };
    let id = hash_list::create(session.conn(), wanted).await?;
    let id = id.ok_or_else(|| {
        let detail = format!("There are {MAX_SHARED} shared lists already, which is the most.");
        Refused::conflict(Conflict::LimitReached, detail)
    })?;
    let list = visible(&mut session, id).await?;
    let (action, details) = (Action::HashListCreate, created(&list));
    record(session, action, team, id.as_uuid(), details).await?;
    Ok(list)
}

/// A hash list.
///
/// # Errors
/// The caller may not do it; there is no such list within reach.
#[boxed]
pub async fn get(caller: &Caller, list: HashListId) -> Result<VisibleHashList, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    visible(&mut session, list).await
}

/// Changes a hash list. What matched before stays matched.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; the name is taken.
#[boxed]
pub async fn update(
    caller: &Caller,
    list: HashListId,
    change: HashListChange,
) -> Result<VisibleHashList, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let before = lock(&mut session, list).await?;
    let (id, team) = (before.id, before.team);
    let description = change.description.as_ref();
    let wanted = hash_list::HashListChange {
        name: change.name.as_ref().map(Name::as_str),
        description: description.map(|text| text.as_ref().map_or("", Reason::as_str)),
        max_distance: change.max_distance.map(bits),
    };
    hash_list::change(session.conn(), id, wanted).await?;
    let before = VisibleHashList::new(before, session.reach());
    let after = visible(&mut session, id).await?;
    if let Some(details) = difference(&before, &after) {
        record(session, Action::HashListUpdate, team, id.as_uuid(), details).await?;
    }
    Ok(after)
}

/// Deletes a hash list. Imports and scans of the list stop; what it matched is kept.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; rules name it.
#[boxed]
pub async fn delete(caller: &Caller, list: HashListId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let found = keep(&mut session, list).await?;
    let reach = session.reach();
    let locked = hash_list::lock_to_delete(session.conn(), reach, found.id).await?;
    let (list, groups) = locked.ok_or_else(unknown)?;
    if !groups.is_empty() {
        let groups: Vec<String> = groups.iter().map(ToString::to_string).collect();
        let groups = groups.join(", ");
        let detail = format!("Rules of these groups name the list: {groups}.");
        return Err(Refused::conflict(Conflict::HashListInUse, detail));
    }
    hash_list::delete(session.conn(), list.id).await?;
    let details = json!({ "deleted": { "name": list.name, "entry_count": list.entries } });
    let (team, id) = (list.team, list.id.as_uuid());
    record(session, Action::HashListDelete, team, id, details).await
}

fn unknown() -> Refused {
    Refused::NotFound(Noun::HashList)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a distance is from 0 to 31"
)]
fn bits(distance: Distance) -> u32 {
    distance.get() as u32
}

/// A hash list, as the caller can see it. The audit log shows it in the same way.
#[derive(Clone, Debug, Serialize)]
pub struct VisibleHashList {
    /// The list.
    pub id: HashListId,
    /// Its team. `None`: it is shared.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// Its name.
    pub name: String,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// What it means that an image is on the list.
    pub kind: ListKind,
    /// In how many bits the PDQ hash of an image can differ from an entry.
    pub max_distance: u32,
    /// Counts the changes of its entries.
    pub revision: i64,
    /// How many entries it has. `None` if the caller cannot see them.
    pub entry_count: Option<i64>,
    /// Who created it. `None` if the caller cannot see that.
    pub created_by: Option<ActorId>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

impl VisibleHashList {
    fn new(list: HashList, to: Reach) -> Self {
        let whole = is_kept_by(&list, to);
        Self {
            id: list.id,
            team: list.team,
            name: list.name,
            description: (!list.description.is_empty()).then_some(list.description),
            kind: list.kind,
            max_distance: list.max_distance,
            revision: list.revision,
            entry_count: whole.then_some(list.entries),
            created_by: list.created_by.filter(|_| whole),
            created_at: list.created_at,
        }
    }
}

/// A list within the caller's reach, as the caller can see it.
async fn visible(session: &mut Session, list: HashListId) -> Result<VisibleHashList, Refused> {
    let list = find(session, list).await?;
    Ok(VisibleHashList::new(list, session.reach()))
}

/// A list within the caller's reach, including shared lists.
async fn find(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
    let reach = session.reach();
    let list = hash_list::find(session.conn(), reach, list).await?;
    list.ok_or_else(unknown)
}

/// A list whose entries the caller can see and change.
async fn keep(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
    let list = find(session, list).await?;
    if is_kept_by(&list, session.reach()) {
        Ok(list)
    } else {
        Err(Refused::Forbidden(
            Forbidden::SharedList,
            "The list is shared: teams may use it, and operators see and change what is on it."
                .into(),
        ))
    }
}

/// The same, locked: nobody else changes the list in this transaction.
async fn lock(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
    let found = keep(session, list).await?;
    let reach = session.reach();
    let locked = hash_list::lock(session.conn(), reach, found.id).await?;
    locked.ok_or_else(unknown)
}

/// Whether a caller can see and change the entries of a list: teams of their own lists, operators
/// of all lists.
fn is_kept_by(list: &HashList, reach: Reach) -> bool {
    match reach {
        Reach::Everything => true,
        Reach::Team(_) => list.team.is_some(),
    }
}
