//! Files of hashes that are read into a list: start, watch, see what was refused, cancel.

use domain::{
    audit::Action,
    id::{HashImportId, HashListId},
    image_hash::HashAlgorithm,
    scope::Scope,
};
use serde_json::json;
pub use store::hash_list::import::{Import, LISTED, Refused as RefusedLine};
use store::{
    hash_list::import::{self, MAX_RUNNING},
    page::Page,
};

use super::{keep, lock};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// Imports into a list, the latest first.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared.
#[boxed]
pub async fn list(caller: &Caller, list: HashListId, page: Page) -> Result<Vec<Import>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let list = keep(&mut session, list).await?;
    Ok(import::list(session.conn(), list.id, page).await?)
}

/// Stores a file of hashes, which is read in the background. `algorithm` is the kind of hash in
/// lines that do not name it.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; too many files
/// are being read.
#[boxed]
pub async fn create(
    caller: &Caller,
    list: HashListId,
    algorithm: HashAlgorithm,
    file: &[u8],
) -> Result<Import, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let list = lock(&mut session, list).await?;
    let by = session.actor();
    let started = import::create(session.conn(), &list, algorithm, file, by).await?;
    let (id, jobs) = started.ok_or_else(|| {
        let detail = format!("{MAX_RUNNING} files are being read, which is the most.");
        Refused::conflict(Conflict::LimitReached, detail)
    })?;
    let import = find(&mut session, id).await?;
    let (action, details) = (Action::HashImportCreate, created(&import));
    record(session, action, list.team, list.id.as_uuid(), details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(import)
}

/// How far an import has got, and what it has done so far.
///
/// # Errors
/// The caller may not do it; there is no such import within reach.
#[boxed]
pub async fn get(caller: &Caller, import: HashImportId) -> Result<Import, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    find(&mut session, import).await
}

/// Up to `limit` lines after this one that an import refused, in the order of the file.
///
/// # Errors
/// The caller may not do it; there is no such import within reach.
#[boxed]
pub async fn refusals(
    caller: &Caller,
    import: HashImportId,
    after: i64,
    limit: i64,
) -> Result<Vec<import::Refused>, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let import = find(&mut session, import).await?;
    Ok(import::refusals(session.conn(), import.id, after, limit).await?)
}

/// Cancels an import. What it has added stays on the list. An import that has ended stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such import within reach.
#[boxed]
pub async fn cancel(caller: &Caller, import: HashImportId) -> Result<Import, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let before = find(&mut session, import).await?;
    if !import::cancel(session.conn(), before.id).await? {
        return Ok(before);
    }
    let after = find(&mut session, before.id).await?;
    let details = json!({ "cancelled": after });
    let (team, list) = (after.team, after.list.as_uuid());
    record(session, Action::HashImportCancel, team, list, details).await?;
    Ok(after)
}

/// An import into a list whose entries the caller can see.
async fn find(session: &mut Session, import: HashImportId) -> Result<Import, Refused> {
    let reach = session.reach();
    let import = import::find(session.conn(), reach, import).await?;
    import.ok_or(Refused::NotFound(Noun::Import))
}
