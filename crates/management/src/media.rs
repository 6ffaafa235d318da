//! Media: list, read, look at the image, decide.

mod appeals;
mod decisions;
pub mod explanation;
pub(crate) mod previews;

use domain::{
    id::{MediaId, SiteId},
    scope::Scope,
};
use store::{PgPool, media};

use crate::{Caller, Management, Noun, Refused};

pub use self::{
    appeals::{Appealed, appeal},
    decisions::{Decided, NewDecision, decide, may_decide},
    previews::{obstacle, preview},
};
pub use store::media::{
    Filter, Item, KnownImage, Listed, Page, PinnedVersion, Verdict, WALKED, Waiting,
};

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
    pub async fn slice(&self, from: u32) -> Result<Option<Vec<u8>>, store::Error> {
        media::image_slice(&self.pool, self.image, from).await
    }
}

/// At most `limit` media within the caller's reach that are older than `after`, the newest first.
///
/// # Errors
/// The caller may not do it.
pub async fn list(
    management: &Management,
    caller: &Caller,
    filter: &Filter,
    after: Option<MediaId>,
    limit: usize,
) -> Result<Page, Refused> {
    let mut session = management.read(caller, Scope::MediaRead).await?;
    let reach = session.reach();
    Ok(media::list(session.conn(), reach, filter, after, limit).await?)
}

/// Counts the items within the caller's reach that wait for a person, or those of one site, up to `limit`.
///
/// # Errors
/// The caller may not do it.
pub async fn waiting(
    management: &Management,
    caller: &Caller,
    site: Option<SiteId>,
    limit: usize,
) -> Result<Waiting, Refused> {
    let mut session = management.read(caller, Scope::MediaRead).await?;
    let reach = session.reach();
    Ok(media::count_waiting(session.conn(), reach, site, limit).await?)
}

/// An item with everything about it.
///
/// # Errors
/// The caller may not do it; there is no such item within reach.
pub async fn get(
    management: &Management,
    caller: &Caller,
    media: MediaId,
) -> Result<Item, Refused> {
    let mut session = management.read(caller, Scope::MediaRead).await?;
    let reach = session.reach();
    let item = media::find(session.conn(), reach, media).await?;
    item.ok_or(Refused::NotFound(Noun::Media))
}

/// The last 50 other items of an item's author at the same site, the newest first. None if it has no
/// author.
///
/// # Errors
/// The caller may not do it; there is no such item within reach.
pub async fn related(
    management: &Management,
    caller: &Caller,
    media: MediaId,
) -> Result<Vec<Listed>, Refused> {
    const MOST: usize = 50;
    let mut session = management.read(caller, Scope::MediaRead).await?;
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
pub async fn image(
    management: &Management,
    caller: &Caller,
    media: MediaId,
) -> Result<StoredImage, Refused> {
    let mut session = management.read(caller, Scope::MediaRead).await?;
    let reach = session.reach();
    let image = media::image(session.conn(), reach, media).await?;
    Ok(StoredImage {
        image: image.ok_or(Refused::NotFound(Noun::Image))?,
        pool: management.pool.clone(),
    })
}
