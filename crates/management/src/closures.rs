//! Closures: close a site or a team, watch it, cancel it while that is possible.

use domain::{
    audit::Action,
    closure::{GraceDays, MOST},
    id::{ClosureId, HoldId, SiteId, TeamId},
    scope::Scope,
};
use serde_json::json;
pub use store::closure::{ClosedSite, Closure};
use store::{
    closure::{self, NewClosure, NotCreated},
    page::Page,
    team,
};

use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record, sites};

/// What to close.
#[derive(Debug)]
pub struct Wanted {
    /// The site, or the team with all its sites.
    pub what: What,
    /// Its exact name, against accidents.
    pub name: String,
    /// How long the closure can be cancelled, and the exports be read.
    pub grace: GraceDays,
}

/// A site or a team.
#[derive(Clone, Copy, Debug)]
pub enum What {
    /// A site.
    Site(SiteId),
    /// A team with all its sites.
    Team(TeamId),
}

/// Closures within the caller's reach, the latest first.
///
/// # Errors
/// The caller may not see closures.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<Closure>, Refused> {
    let mut session = caller.read(Scope::ClosuresRead).await?;
    let reach = session.reach();
    Ok(closure::list(session.conn(), reach, page).await?)
}

/// A closure, and how far it has got.
///
/// # Errors
/// The caller may not see closures; there is no such one within reach.
#[boxed]
pub async fn get(caller: &Caller, closure: ClosureId) -> Result<Closure, Refused> {
    let mut session = caller.read(Scope::ClosuresRead).await?;
    find(&mut session, closure).await
}

/// Closes a site, or a team with all its sites. When this returns, nothing is accepted for them any more. When the grace is over,
/// everything that is stored about them is erased in the background.
///
/// # Errors
/// The caller may not do it; there is no such site or team within reach; the name is another one; it is closed or being closed; a
/// legal hold is in force; the team has [`MOST`] closures.
#[boxed]
pub async fn create(caller: &Caller, wanted: &Wanted) -> Result<Closure, Refused> {
    let mut session = caller.change(Scope::ClosuresWrite).await?;
    let (team, site) = named(&mut session, wanted).await?;
    let new = NewClosure {
        team,
        site,
        grace: wanted.grace,
        by: session.actor(),
    };
    let started = closure::create(session.conn(), new).await?;
    let (id, jobs) = started.map_err(|why| refused(why, site.is_some()))?;
    let closure = find(&mut session, id).await?;
    let details = created(&closure);
    let action = Action::ClosureCreate;
    record(session, action, closure.team, closure.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(closure)
}

/// Cancels a closure during its grace. Exactly what it had disabled is open again. One that was cancelled before stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such closure within reach; its grace is over.
#[boxed]
pub async fn cancel(caller: &Caller, closure: ClosureId) -> Result<Closure, Refused> {
    let mut session = caller.change(Scope::ClosuresWrite).await?;
    let before = find(&mut session, closure).await?;
    let is_cancelled = closure::cancel(session.conn(), closure).await?;
    let after = find(&mut session, closure).await?;
    if is_cancelled {
        let details = json!({ "cancelled": before });
        let action = Action::ClosureCancel;
        record(session, action, after.team, after.id, details).await?;
        return Ok(after);
    }
    if after.state == domain::closure::ClosureState::Cancelled {
        return Ok(after);
    }
    Err(Refused::conflict(
        Conflict::Closing,
        "The grace of the closure is over, so it cannot be cancelled any more.",
    ))
}

/// Continues a closure that failed, where it was. Any other stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such closure within reach.
#[boxed]
pub async fn resume(caller: &Caller, closure: ClosureId) -> Result<Closure, Refused> {
    let mut session = caller.change(Scope::ClosuresWrite).await?;
    let before = find(&mut session, closure).await?;
    let Some(jobs) = closure::resume(session.conn(), closure).await? else {
        return Ok(before);
    };
    let after = find(&mut session, closure).await?;
    let details = json!({ "resumed": after });
    let action = Action::ClosureResume;
    record(session, action, after.team, after.id, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(after)
}

fn refused(why: NotCreated, is_site: bool) -> Refused {
    match why {
        NotCreated::Closing(closing) => {
            sites::is_closing(if is_site { "site" } else { "team" }, closing)
        }
        NotCreated::OfSite(closure) => Refused::conflict(
            Conflict::Closing,
            format!(
                "A site of the team is being closed: wait for the end of the closure {closure}, or cancel it."
            ),
        ),
        NotCreated::Held(holds) => {
            let holds: Vec<String> = holds.iter().map(HoldId::to_string).collect();
            Refused::conflict(
                Conflict::LegalHold,
                format!(
                    "Legal holds are in force. Lift them first: {}.",
                    holds.join(", ")
                ),
            )
        }
        NotCreated::TooMany => Refused::conflict(
            Conflict::LimitReached,
            format!(
                "The team has {MOST} closures, which is the most. Each is kept for 90 days after its end."
            ),
        ),
    }
}

/// The team and the site that are meant, if the name is theirs.
async fn named(
    session: &mut Session,
    wanted: &Wanted,
) -> Result<(TeamId, Option<SiteId>), Refused> {
    let (team, site, name) = match wanted.what {
        What::Site(id) => {
            let found = sites::find(session, id).await;
            let found = found.map_err(|refused| no_such("site_id", "is no site", refused))?;
            (found.team, Some(id), found.settings.name)
        }
        What::Team(id) => {
            session
                .require_team(id)
                .map_err(|refused| no_such("team_id", "is no team", refused))?;
            let found = team::find(session.conn(), id).await?;
            let found = found.ok_or_else(|| Refused::field("team_id", "is no team"))?;
            (id, None, found.name)
        }
    };
    if name == wanted.name {
        return Ok((team, site));
    }
    let message = format!(
        "must be the exact name of the {}",
        if site.is_some() { "site" } else { "team" }
    );
    Err(Refused::field("name", message))
}

fn no_such(field: &str, message: &str, refused: Refused) -> Refused {
    match refused {
        Refused::NotFound(_) => Refused::field(field, message),
        refused => refused,
    }
}

async fn find(session: &mut Session, closure: ClosureId) -> Result<Closure, Refused> {
    let reach = session.reach();
    let found = closure::find(session.conn(), reach, closure).await?;
    found.ok_or(Refused::NotFound(Noun::Closure))
}
