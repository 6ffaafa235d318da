//! Media: list, read, look at the image, decide.

pub mod explanation;
pub(crate) mod previews;

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{MediaId, SiteId},
    media::{NoRuling, Ruling, Seen, Status, Step},
    reason::Reason,
    review::NoteText,
    scope::Scope,
};
use serde_json::json;
pub use store::media::{
    Filter, Item, KnownImage, Listed, Page, PinnedVersion, Verdict, WALKED, Waiting,
};
use store::{
    PgPool, media,
    review::{self, NewNote, appeal},
};

use crate::{Caller, Conflict, Noun, Refused, boxed, record};

pub use self::previews::{obstacle, preview};

/// An item's inline image, which is read slice by slice.
#[derive(Clone, Debug)]
pub struct StoredImage {
    /// Its size and its format.
    pub image: media::Image,
    pool: PgPool,
}

impl StoredImage {
    /// The bytes from this offset on. `None` if the image was removed meanwhile. A slow reader of a
    /// large image holds no more than a slice in memory, and no connection.
    ///
    /// # Errors
    /// The database failed.
    #[boxed]
    pub async fn slice(&self, from: u32) -> Result<Option<Vec<u8>>, store::Error> {
        media::image_slice(&self.pool, self.image, from).await
    }
}

/// At most `limit` media within the caller's reach that are older than `after`, the newest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(
    caller: &Caller,
    filter: &Filter,
    after: Option<MediaId>,
    limit: usize,
) -> Result<Page, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    Ok(media::list(session.conn(), reach, filter, after, limit).await?)
}

/// Counts the items within the caller's reach that wait for a person, or those of one site, up to `limit`.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn waiting(
    caller: &Caller,
    site: Option<SiteId>,
    limit: usize,
) -> Result<Waiting, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    Ok(media::count_waiting(session.conn(), reach, site, limit).await?)
}

/// An item with everything about it.
///
/// # Errors
/// The caller may not do it; there is no such item within reach.
#[boxed]
pub async fn get(caller: &Caller, media: MediaId) -> Result<Item, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    let item = media::find(session.conn(), reach, media).await?;
    item.ok_or(Refused::NotFound(Noun::Media))
}

/// The last 50 other items of an item's author at the same site, the newest first. None if it has no
/// author.
///
/// # Errors
/// The caller may not do it; there is no such item within reach.
#[boxed]
pub async fn related(caller: &Caller, media: MediaId) -> Result<Vec<Listed>, Refused> {
    const MOST: usize = 50;
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    let item = media::find(session.conn(), reach, media).await?;
    let item = item.ok_or(Refused::NotFound(Noun::Media))?;
    let Some(author) = item.author.and_then(|author| author.parse().ok()) else {
        return Ok(Vec::new());
    };
    let filter = Filter {
        site: Some(item.site),
        author: Some(author),
        ..Filter::default()
    };
    let page = media::list(session.conn(), reach, &filter, None, MOST + 1).await?;
    let others = page
        .media
        .into_iter()
        .filter(|listed| listed.media != media);
    Ok(others.take(MOST).collect())
}

/// An item's inline image, as long as it is kept.
///
/// # Errors
/// The caller may not do it; there is no such item within reach, or no image of it is kept.
#[boxed]
pub async fn image(caller: &Caller, media: MediaId) -> Result<StoredImage, Refused> {
    let mut session = caller.read(Scope::MediaRead).await?;
    let reach = session.reach();
    let image = media::image(session.conn(), reach, media).await?;
    Ok(StoredImage {
        image: image.ok_or(Refused::NotFound(Noun::Image))?,
        pool: caller.management.pool.clone(),
    })
}

/// What a moderator decides.
#[derive(Clone, Debug)]
pub struct NewDecision {
    /// Whether the item may be displayed.
    pub ruling: Ruling,
    /// The reason. The application can read it.
    pub reason: Reason,
    /// What the moderator saw of the item. If it is different by now, nothing is decided.
    pub seen: Seen,
}

/// A decision that is in force.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// The item.
    pub media: MediaId,
    /// The status before and after, and the number of the verdict.
    pub step: Step,
    /// When it was decided.
    pub moderated_at: DateTime<Utc>,
}

/// Whether the caller can decide about items of this site.
///
/// # Errors
/// The caller may not see items.
#[boxed]
pub async fn may_decide(caller: &Caller, site: SiteId) -> Result<bool, Refused> {
    let session = caller.read(Scope::MediaRead).await?;
    Ok(session.has(Scope::MediaDecide) && session.require_own_site(site).is_ok())
}

/// Stores a decision with its event and deliveries, and wakes the workers.
///
/// # Errors
/// The caller may not do it; there is no such item within reach; it is pending, has that verdict already, or somebody else
/// decided meanwhile.
#[boxed]
pub async fn decide(caller: &Caller, media: MediaId, new: NewDecision) -> Result<Decided, Refused> {
    let mut session = caller.change(Scope::MediaDecide).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, standing) = found.ok_or(Refused::NotFound(Noun::Media))?;
    if session.has_own_sites() {
        let site = media::site_of(session.conn(), media).await?;
        session.require_own_site(site)?;
    }
    let step = standing.ruled(new.ruling, new.seen)?;

    let decision = media::Decision {
        media,
        step,
        reason: &new.reason,
        moderator: session.actor(),
    };
    let decided = media::decide(session.conn(), decision).await?;
    let Some(decided) = decided else {
        // Somebody else decided between the two statements. This one waited for that commit.
        let now = media::standing(session.conn(), reach, media).await?;
        let now = now.filter(|_| new.seen.verdict.is_some());
        let changed = now.map_or(NoRuling::Changed, |(_, now)| NoRuling::VerdictChanged(now));
        return Err(changed.into());
    };
    let (from, to) = (step.from().status, step.to());
    let details = json!({
        "changed": { "status": { "from": from, "to": to } },
        "verdict": step.number(),
    });
    record(session, Action::MediaDecide, team, media, details).await?;
    caller.management.queue.enqueued(&decided.jobs);
    Ok(Decided {
        media,
        step,
        moderated_at: decided.moderated_at,
    })
}

/// An appeal that waits for a person.
#[derive(Clone, Copy, Debug)]
pub struct Appealed {
    /// The item.
    pub media: MediaId,
    /// Its status, which stays until somebody decides otherwise.
    pub status: Status,
    /// When somebody should have looked.
    pub due_at: DateTime<Utc>,
}

/// Asks that somebody who has not decided about the item looks at it again. The words of the appeal
/// become a note that this person sees.
///
/// # Errors
/// The caller may not do it; there is no such item within reach; it has no final verdict; an appeal
/// is open.
#[boxed]
pub async fn appeal(
    caller: &Caller,
    media: MediaId,
    words: Option<&NoteText>,
) -> Result<Appealed, Refused> {
    let mut session = caller.change(Scope::MediaAppeal).await?;
    let reach = session.reach();
    let found = media::standing(session.conn(), reach, media).await?;
    let (team, standing) = found.ok_or(Refused::NotFound(Noun::Media))?;
    match standing.status {
        Status::Approved | Status::Rejected => {}
        Status::Pending => return Err(NoRuling::StillPending.into()),
        Status::PendingReview => {
            return Err(Refused::conflict(
                Conflict::StillInReview,
                "The item waits for a person already.",
            ));
        }
    }
    let opened = appeal::open(session.conn(), media).await?;
    let opened = opened.ok_or_else(|| {
        Refused::conflict(
            Conflict::AppealOpen,
            "An appeal against this verdict waits for a person already.",
        )
    })?;
    if let (Some(body), Some(by)) = (words, session.actor().id()) {
        let note = NewNote {
            media,
            team,
            review: Some(opened.review),
            by,
            body,
        };
        review::add_note(session.conn(), note).await?;
    }
    let details = json!({ "review_id": opened.review, "status": standing.status });
    record(session, Action::MediaAppeal, team, media, details).await?;
    Ok(Appealed {
        media,
        status: standing.status,
        due_at: opened.due_at,
    })
}
