//! A hash list, and how much of it a caller can see.

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, HashListId, TeamId},
    image_hash::ListKind,
    reach::Reach,
};
use serde::Serialize;
use store::hash_list::{self, HashList};

use super::unknown;
use crate::{Forbidden, Refused, Session};

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
    pub(super) fn new(list: HashList, to: Reach) -> Self {
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
pub(super) async fn visible(
    session: &mut Session,
    list: HashListId,
) -> Result<VisibleHashList, Refused> {
    let list = find(session, list).await?;
    Ok(VisibleHashList::new(list, session.reach()))
}

/// A list within the caller's reach, including shared lists.
pub(super) async fn find(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
    let reach = session.reach();
    let list = hash_list::find(session.conn(), reach, list).await?;
    list.ok_or_else(unknown)
}

/// A list whose entries the caller can see and change.
pub(super) async fn keep(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
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
pub(super) async fn lock(session: &mut Session, list: HashListId) -> Result<HashList, Refused> {
    let found = keep(session, list).await?;
    let reach = session.reach();
    let locked = hash_list::lock(session.conn(), reach, found.id).await?;
    locked.ok_or_else(unknown)
}

/// Whether a caller can see and change the entries of a list: teams of their own lists, operators
/// of all lists.
pub(super) fn is_kept_by(list: &HashList, reach: Reach) -> bool {
    match reach {
        Reach::Everything => true,
        Reach::Team(_) => list.team.is_some(),
    }
}
