//! Erasures: remove everything that is stored about some items, watch it, get the certificate.

use domain::{
    audit::Action,
    erasure::{MOST_NAMED, MOST_RUNNING, Subject},
    id::{ErasureId, SiteId, TeamId},
    scope::Scope,
    submission::MAX_APP_MEDIA_ID,
};
use serde_json::json;
pub use store::erasure::{Erasure, PublicKey, certificate};
use store::{
    erasure::{self, NewErasure},
    page::Page,
    site::settings,
};

use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

/// Which items to erase.
#[derive(Debug)]
pub struct Wanted {
    /// The team whose items they are. `None`: the only team of the caller, or that of the site.
    pub team: Option<TeamId>,
    /// Only items of this site. `None`: of all sites of the team.
    pub site: Option<SiteId>,
    /// Which of them.
    pub subject: Subject,
}

/// Erasures within the caller's reach, the latest first.
///
/// # Errors
/// The caller may not see erasures.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Erasure>, Refused> {
    let mut session = caller.read(Scope::ErasuresRead).await?;
    let reach = session.reach();
    Ok(erasure::list(session.conn(), reach, page).await?)
}

/// An erasure, and how far it has got.
///
/// # Errors
/// The caller may not see erasures; there is no such one within reach.
#[boxed]
pub async fn get(caller: &Caller, erasure: ErasureId) -> Result<Erasure, Refused> {
    let mut session = caller.read(Scope::ErasuresRead).await?;
    find(&mut session, erasure).await
}

/// The public key that checks certificates.
///
/// # Errors
/// The caller may not see erasures; there is no master key.
#[boxed]
pub async fn public_key(caller: &Caller) -> Result<PublicKey, Refused> {
    let session = caller.read(Scope::ErasuresRead).await?;
    session.end();
    Ok(erasure::made_public_key(&caller.management.pool, caller.management.master_key()?).await?)
}

/// Starts an erasure. It runs in the background, and cannot be stopped.
///
/// # Errors
/// The caller may not erase items; there is no such team or site within reach; no items, or too many, are named; the team has too many
/// erasures that have not ended.
#[boxed]
pub async fn create(caller: &Caller, wanted: &Wanted) -> Result<Erasure, Refused> {
    let mut session = caller.change(Scope::ErasuresWrite).await?;
    require_items(&wanted.subject)?;
    let team = team(&mut session, wanted).await?;
    let new = NewErasure {
        team,
        site: wanted.site,
        subject: &wanted.subject,
        by: session.actor(),
    };
    let started = erasure::create(session.conn(), new).await?;
    let (id, jobs) = started.ok_or_else(|| {
        Refused::conflict(
            Conflict::LimitReached,
            format!(
                "Your team has {MOST_RUNNING} erasures that have not ended: wait for one of them."
            ),
        )
    })?;
    let erasure = find(&mut session, id).await?;
    let details = created(&erasure);
    let action = Action::ErasureCreate;
    record(session, action, erasure.team, erasure.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(erasure)
}

/// Continues an erasure that failed, where it was. Any other stays as it is.
///
/// # Errors
/// The caller may not erase items; there is no such erasure within reach.
#[boxed]
pub async fn resume(caller: &Caller, erasure: ErasureId) -> Result<Erasure, Refused> {
    let mut session = caller.change(Scope::ErasuresWrite).await?;
    let before = find(&mut session, erasure).await?;
    let Some(jobs) = erasure::resume(session.conn(), erasure).await? else {
        return Ok(before);
    };
    let after = find(&mut session, erasure).await?;
    let details = json!({ "resumed": after });
    let action = Action::ErasureResume;
    record(session, action, after.team, after.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(after)
}

async fn find(session: &mut Session, erasure: ErasureId) -> Result<Erasure, Refused> {
    let reach = session.reach();
    let found = erasure::find(session.conn(), reach, erasure).await?;
    found.ok_or(Refused::NotFound(Noun::Erasure))
}

/// The team whose items are meant.
async fn team(session: &mut Session, wanted: &Wanted) -> Result<TeamId, Refused> {
    let named = session.named_team(wanted.team).await?;
    let Some(site) = wanted.site else {
        return named.ok_or_else(|| Refused::field("team_id", "is required"));
    };
    let reach = session.reach();
    let found = settings::find(session.conn(), reach, site).await?;
    let of_site = found.map(|site| site.team);
    match of_site {
        Some(team) if named.is_none_or(|named| named == team) => Ok(team),
        _ => Err(Refused::field("site_id", "is no site of the team")),
    }
}

fn require_items(subject: &Subject) -> Result<(), Refused> {
    let (field, named) = match subject {
        Subject::MediaIds(ids) => ("media_ids", ids.len()),
        Subject::AppMediaIds(ids) => {
            require_texts(ids)?;
            ("app_media_ids", ids.len())
        }
        Subject::Author(_) | Subject::Metadata(_) | Subject::Everything {} => return Ok(()),
    };
    if (1..=MOST_NAMED).contains(&named) {
        return Ok(());
    }
    let message = format!("must have 1 to {MOST_NAMED} members");
    Err(Refused::field(field, message))
}

/// Postgres has no texts with NUL, and items have no longer ids.
fn require_texts(ids: &[String]) -> Result<(), Refused> {
    let is_possible = |id: &String| !id.contains('\0') && id.chars().count() <= MAX_APP_MEDIA_ID;
    match ids.iter().position(|id| !is_possible(id)) {
        None => Ok(()),
        Some(place) => {
            let field = format!("app_media_ids[{place}]");
            let message =
                format!("must have at most {MAX_APP_MEDIA_ID} characters, none of them NUL");
            Err(Refused::field(field, message))
        }
    }
}
