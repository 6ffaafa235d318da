//! Site keys: list, create, rotate, read, disable.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{SiteId, SiteKeyId, TeamId},
    key::SiteKey,
    scope::Scope,
};
use serde_json::json;
pub use store::site::keys::KeyRecord;
use store::{page::Page, site};

use crate::{Caller, Change, Noun, Refused, Session, boxed, created, record, sites};

/// A site key that was just created.
#[derive(Debug)]
pub struct IssuedKey {
    /// The key, without its secret.
    pub key: KeyRecord,
    /// The key itself. It is shown once.
    pub secret: SiteKey,
}

/// A site's keys, the oldest first, disabled ones included.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn list(caller: &Caller, site: SiteId, page: Page) -> Result<Vec<KeyRecord>, Refused> {
    let mut session = caller.read(Scope::KeysRead).await?;
    session.require_site(site).await?;
    Ok(site::keys::list(session.conn(), site, page).await?)
}

/// In which minutes these keys of a site were last used. Keys that were never used are missing.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn last_used(
    caller: &Caller,
    site: SiteId,
    keys: &[KeyRecord],
) -> Result<Vec<(SiteKeyId, DateTime<Utc>)>, Refused> {
    let mut session = caller.read(Scope::KeysRead).await?;
    session.require_site(site).await?;
    let keys: Vec<SiteKeyId> = keys.iter().map(|key| key.id).collect();
    Ok(site::keys::last_used(session.conn(), site, &keys).await?)
}

/// A site's key.
///
/// # Errors
/// The caller may not do it; there is no such site within reach, or no such key of it.
#[boxed]
pub async fn get(caller: &Caller, site: SiteId, key: SiteKeyId) -> Result<KeyRecord, Refused> {
    let mut session = caller.read(Scope::KeysRead).await?;
    session.require_site(site).await?;
    find(&mut session, site, key).await
}

/// Creates a key for a site. Its other keys keep working.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; the plan allows no further key.
#[boxed]
pub async fn create(caller: &Caller, site: SiteId) -> Result<IssuedKey, Refused> {
    let mut session = caller.change(Scope::KeysWrite).await?;
    let team = sites::require_open(&mut session, site).await?;
    let (issued, change) = add(&mut session, team, site).await?;
    session.commit(change).await?;
    Ok(issued)
}

/// Creates a key for a site of this team, in a session that has the scope for it.
pub(crate) async fn add(
    session: &mut Session,
    team: TeamId,
    site: SiteId,
) -> Result<(IssuedKey, Change), Refused> {
    let new = site::keys::create(session.conn(), site).await?;
    issue(session, Action::KeyCreate, team, site, new).await
}

/// Replaces all keys of a site by a new one. The old ones stop working at once.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; it has no key to replace and the plan allows no further
/// one.
#[boxed]
pub async fn rotate(caller: &Caller, site: SiteId) -> Result<IssuedKey, Refused> {
    let mut session = caller.change(Scope::KeysWrite).await?;
    let team = sites::require_open(&mut session, site).await?;
    let new = site::keys::rotate(session.conn(), site).await?;
    let (issued, change) = issue(&mut session, Action::KeyRotate, team, site, new).await?;
    session.commit(change).await?;
    Ok(issued)
}

/// Disables a key at once and for good. Disabling it again changes nothing.
///
/// # Errors
/// The caller may not do it; there is no such site within reach, or no such key of it.
#[boxed]
pub async fn disable(caller: &Caller, site: SiteId, key: SiteKeyId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::KeysWrite).await?;
    let team = session.require_site(site).await?;
    let found = find(&mut session, site, key).await?;
    if !site::keys::disable(session.conn(), key).await? {
        return Ok(());
    }
    let details = json!({ "site_id": found.site, "hint": found.hint });
    record(session, Action::KeyDisable, team, key, details).await
}

async fn find(session: &mut Session, site: SiteId, key: SiteKeyId) -> Result<KeyRecord, Refused> {
    let key = site::keys::find(session.conn(), site, key).await?;
    key.ok_or(Refused::NotFound(Noun::SiteKey))
}

/// A new key, and what is recorded of it.
async fn issue(
    session: &mut Session,
    action: Action,
    team: TeamId,
    site: SiteId,
    (id, secret): (SiteKeyId, SiteKey),
) -> Result<(IssuedKey, Change), Refused> {
    let key = find(session, site, id).await?;
    let change = Change::new(action, team, key.id, created(&key));
    Ok((IssuedKey { key, secret }, change))
}
