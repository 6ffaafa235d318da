//! Items and their contents are forgotten when the last verdict is as old as their site wants. An item stays as it is while it
//! waits for a verdict or a person, while the desk knows its answer, and while an event tells of it.
//!
//! Each site has a place up to which its items were looked at ([`old_items`]). Items that had to stay then are listed, and looked at again
//! after a pause that grows ([`postponed`]). One sweep looks at a bounded number of a site's items, so that a site with millions of
//! them does not delay the others for long.

mod content;
mod due;
mod due_sites;
mod old_items;
mod postponed;
mod preview;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub(crate) use self::postponed::look_again_at_all;
pub use self::preview::{Content, RetentionPreview, retention_preview};
use self::{
    due::Told,
    due_sites::{Site, sites},
};
use super::remove::remove;
use crate::{
    Error,
    batches::{Forgotten, Pace},
};

/// Items that one transaction looks at, at most.
const SLICE: u64 = 500;

/// What is forgotten of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// All of it.
    Items,
    /// Text, metadata, image and its address, what providers said word for word, and people's notes, which quote it. What is known of
    /// the item stays.
    Contents,
}

impl Kind {
    /// The name in the database.
    fn as_str(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Contents => "contents",
        }
    }

    /// Forgets it of these items, whose events must be gone.
    async fn forget(self, conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
        match self {
            Self::Items => remove(conn, items).await,
            Self::Contents => content::empty(conn, items).await,
        }
    }
}

/// How much one sweep does for a site, at most.
#[derive(Clone, Copy)]
struct Bounds {
    /// Items that it looks at for the first time.
    walked: u64,
    /// Items that it looks at again.
    again: u64,
    /// Old events whose items it keeps in memory, 16 bytes each.
    told: u64,
    /// How fast its slices follow each other.
    pace: Pace,
}

impl Bounds {
    const fn usual(pace: Pace) -> Self {
        Self {
            walked: 100_000,
            again: 10_000,
            told: 100_000,
            pace,
        }
    }
}

/// Forgets what is old enough, site by site and slice by slice. Other processes may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool, kind: Kind, pace: Pace) -> Result<Forgotten, Error> {
    forget_within(pool, kind, Bounds::usual(pace)).await
}

async fn forget_within(pool: &PgPool, kind: Kind, bounds: Bounds) -> Result<Forgotten, Error> {
    let mut forgotten = Forgotten::default();
    let mut failed = None;
    for site in sites(pool, kind).await? {
        // Whatever is wrong with one site, the others have their turn.
        match forget_of(pool, kind, &site, bounds).await {
            Ok(of_site) => forgotten += of_site,
            Err(error) => failed = Some(error),
        }
    }
    postponed::forget_unwanted(pool, kind, bounds).await?;
    failed.map_or(Ok(forgotten), Err)
}

async fn forget_of(
    pool: &PgPool,
    kind: Kind,
    site: &Site,
    bounds: Bounds,
) -> Result<Forgotten, Error> {
    let told = Told::read(pool, site, bounds.told).await?;
    let mut forgotten = old_items::go_on(pool, kind, site, &told, bounds).await?;
    forgotten += postponed::look_again(pool, kind, site, &told, bounds).await?;
    Ok(forgotten)
}

#[cfg(test)]
mod tests;
