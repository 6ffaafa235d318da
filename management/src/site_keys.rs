//! Site keys: list, create, rotate, read, disable.

use domain::{
    audit::Action,
    id::{SiteId, SiteKeyId, TeamId},
    key::SiteKey,
    scope::Scope,
};
use serde_json::json;
use store::{
    page::Page,
    site::{self, keys::KeyRecord},
};

use crate::{Caller, Change, Management, Noun, Refused, Session, created, sites};

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
pub async fn list(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    page: Page,
) -> Result<Vec<KeyRecord>, Refused> {
    let mut session = management.read(caller, Scope::KeysRead).await?;
    sites::require(&mut session, site).await?;
    Ok(site::keys::list(session.conn(), site, page).await?)
}

/// A site's key.
///
/// # Errors
/// The caller may not do it; there is no such site within reach, or no such key of it.
pub async fn get(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    key: SiteKeyId,
) -> Result<KeyRecord, Refused> {
    let mut session = management.read(caller, Scope::KeysRead).await?;
    sites::require(&mut session, site).await?;
    find(&mut session, site, key).await
}

/// Creates a key for a site. Its other keys keep working.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; the plan allows no further key.
pub async fn create(
    management: &Management,
    caller: &Caller,
    site: SiteId,
) -> Result<IssuedKey, Refused> {
    let mut session = management.change(caller, Scope::KeysWrite).await?;
    let team = sites::require(&mut session, site).await?;
    let new = site::keys::create(session.conn(), site).await?;
    issue(session, Action::KeyCreate, team, site, new).await
}

/// Replaces all keys of a site by a new one. The old ones stop working at once.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; it has no key to replace and the plan allows no further
/// one.
pub async fn rotate(
    management: &Management,
    caller: &Caller,
    site: SiteId,
) -> Result<IssuedKey, Refused> {
    let mut session = management.change(caller, Scope::KeysWrite).await?;
    let team = sites::require(&mut session, site).await?;
    let new = site::keys::rotate(session.conn(), site).await?;
    issue(session, Action::KeyRotate, team, site, new).await
}

/// Disables a key at once and for good. Disabling it again changes nothing.
///
/// # Errors
/// The caller may not do it; there is no such site within reach, or no such key of it.
pub async fn disable(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    key: SiteKeyId,
) -> Result<(), Refused> {
    let mut session = management.change(caller, Scope::KeysWrite).await?;
    let team = sites::require(&mut session, site).await?;
    let found = find(&mut session, site, key).await?;
    if !site::keys::disable(session.conn(), key).await? {
        return Ok(());
    }
    session
        .commit(Change {
            action: Action::KeyDisable,
            team: Some(team),
            target: key.as_uuid(),
            details: json!({ "site_id": found.site, "hint": found.hint }),
        })
        .await
}

async fn find(session: &mut Session, site: SiteId, key: SiteKeyId) -> Result<KeyRecord, Refused> {
    let key = site::keys::find(session.conn(), site, key).await?;
    key.ok_or(Refused::NotFound(Noun::SiteKey))
}

/// Records and commits a new key.
async fn issue(
    mut session: Session,
    action: Action,
    team: TeamId,
    site: SiteId,
    (id, secret): (SiteKeyId, SiteKey),
) -> Result<IssuedKey, Refused> {
    let key = find(&mut session, site, id).await?;
    session
        .commit(Change {
            action,
            team: Some(team),
            target: key.id.as_uuid(),
            details: created(&key),
        })
        .await?;
    Ok(IssuedKey { key, secret })
}
