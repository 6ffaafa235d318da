//! Legal holds: list, create, read, lift. While one is in force for a site, an item or an author, retention removes nothing of it.

use domain::{
    audit::Action,
    author::Author,
    id::{HoldId, MediaId, SiteId},
    reason::Reason,
    scope::Scope,
};
use serde_json::{Value, json};
use store::{closure, legal_hold, media};
pub use store::{
    legal_hold::{Hold, What},
    page::Page,
};

use crate::{Caller, Conflict, Noun, Refused, Session, boxed, record, sites};

/// The most holds of a team that are in force.
pub const MOST: i64 = 1_000;

/// A hold to create.
#[derive(Debug)]
pub struct NewHold {
    /// The site.
    pub site: SiteId,
    /// Only this item.
    pub media: Option<MediaId>,
    /// Only the items of this author. Not together with an item.
    pub author: Option<Author>,
    /// Why.
    pub reason: Reason,
}

/// Holds within the caller's reach, the oldest first, of all sites or of one.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, site: Option<SiteId>, page: Page) -> Result<Vec<Hold>, Refused> {
    let mut session = caller.read(Scope::HoldsRead).await?;
    let reach = session.reach();
    Ok(legal_hold::list(session.conn(), reach, site, page).await?)
}

/// A hold.
///
/// # Errors
/// The caller may not do it; there is no such hold within reach.
#[boxed]
pub async fn get(caller: &Caller, hold: HoldId) -> Result<Hold, Refused> {
    let mut session = caller.read(Scope::HoldsRead).await?;
    find(&mut session, hold).await
}

/// Creates a hold. When this returns, nothing is removed any more of what it names.
///
/// # Errors
/// The caller may not do it; there is no such site within reach, or no such item of the site; both an item and an author are named;
/// [`MOST`] holds of the team are in force; the site is closed for good.
#[boxed]
pub async fn create(caller: &Caller, new: NewHold) -> Result<Hold, Refused> {
    let mut session = caller.change(Scope::HoldsWrite).await?;
    let team = session.require_site(new.site).await;
    let team = team.map_err(|refused| match refused {
        Refused::NotFound(_) => Refused::field("site_id", "is not the id of a site"),
        refused => refused,
    })?;
    // Nobody ends the grace of its closure until the transaction ends.
    if let Some(closing) = closure::of_site(session.conn(), new.site).await?
        && closing.is_closed
    {
        return Err(sites::is_closing("site", closing));
    }
    let what = match (new.media, new.author) {
        (Some(_), Some(_)) => {
            return Err(Refused::field("author", "must not be given with media_id"));
        }
        (Some(media), None) => {
            require_media(&mut session, new.site, media).await?;
            What::Media(media)
        }
        (None, Some(author)) => What::Author(author),
        (None, None) => What::Site,
    };
    if legal_hold::count(session.conn(), team).await? >= MOST {
        return Err(Refused::conflict(
            Conflict::LimitReached,
            format!(
                "{MOST} legal holds of the team are in force, which is the most. Lift one, or hold a whole site."
            ),
        ));
    }
    let (of, actor) = ((team, new.site), session.actor());
    let id = legal_hold::create(session.conn(), of, &what, &new.reason, actor).await?;
    let hold = find(&mut session, id).await?;
    let details = json!({ "created": described(&hold) });
    record(session, Action::HoldCreate, hold.team, hold.id, details).await?;
    Ok(hold)
}

/// Lifts a hold. A hold that was lifted before stays as it is.
///
/// # Errors
/// The caller may not do it; there is no such hold within reach.
#[boxed]
pub async fn lift(caller: &Caller, hold: HoldId) -> Result<Hold, Refused> {
    let mut session = caller.change(Scope::HoldsWrite).await?;
    let before = find(&mut session, hold).await?;
    if !legal_hold::lift(session.conn(), before.id).await? {
        return Ok(before);
    }
    let lifted = find(&mut session, before.id).await?;
    let details = json!({ "lifted": described(&lifted) });
    record(session, Action::HoldLift, lifted.team, lifted.id, details).await?;
    Ok(lifted)
}

async fn find(session: &mut Session, hold: HoldId) -> Result<Hold, Refused> {
    let reach = session.reach();
    let hold = legal_hold::find(session.conn(), reach, hold).await?;
    hold.ok_or(Refused::NotFound(Noun::Hold))
}

async fn require_media(session: &mut Session, site: SiteId, media: MediaId) -> Result<(), Refused> {
    let unknown = || Refused::field("media_id", "is not the id of an item of the site");
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    found.ok_or_else(unknown)?;
    if media::site_of(session.conn(), media).await? == site {
        Ok(())
    } else {
        Err(unknown())
    }
}

/// The audit log is kept for ever, so it does not name the author.
fn described(hold: &Hold) -> Value {
    json!({
        "site_id": hold.site,
        "media_id": hold.what.media(),
        "is_of_an_author": hold.what.author().is_some(),
        "reason": hold.reason,
    })
}
