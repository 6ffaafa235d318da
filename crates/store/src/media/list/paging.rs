//! Walks the media of several sites at once, from the newest on, looking at a bounded number of
//! rows.

mod queries;

use domain::{author::Author, id::MediaId, media::Status, score::Category};
use uuid::Uuid;

pub(super) use self::queries::{named, newest, waiting, written};
use super::Filter;
use crate::{
    id_time::ids_within,
    page::{self, Step},
};

/// How many rows a page with a filter looks at, over all sites together; at least one of each site.
pub const WALKED: usize = 5_000;

/// Which rows are looked at, and which of them are wanted.
///
/// Each site's rows are walked from the newest on, as far as its share goes. Below the end of a
/// share, the site's older rows are unknown, so the page ends there: at the newest such place of
/// all sites.
pub(super) struct Walk<'a> {
    sites: Vec<Uuid>,
    /// From this id on,
    from: Uuid,
    /// up to this one, which is not walked itself.
    before: Uuid,
    /// Rows of each site.
    share: i64,
    filter: &'a Filter,
    limit: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        sites: Vec<Uuid>,
        filter: &'a Filter,
        after: Option<MediaId>,
        limit: usize,
    ) -> Self {
        let (from, until) = ids_within(filter.since, filter.until);
        let share = (WALKED / sites.len().max(1)).max(1);
        // Without a filter, no site needs more rows than the page can hold.
        let share = if filter.wants_all() {
            share.min(limit.saturating_add(1))
        } else {
            share
        };
        Self {
            from,
            before: after.map_or(until, |after| after.as_uuid().min(until)),
            share: i64::try_from(share).unwrap_or(i64::MAX),
            sites,
            filter,
            limit,
        }
    }

    fn status(&self) -> Option<&'static str> {
        self.filter.status.map(Status::as_str)
    }

    fn author(&self) -> Option<&str> {
        self.filter.author.as_ref().map(Author::as_str)
    }

    /// The id as it is in traces.
    fn rule(&self) -> Option<String> {
        self.filter.rule.map(|rule| rule.to_string())
    }

    fn category(&self) -> Option<&'static str> {
        self.filter.category.map(Category::as_str)
    }

    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    fn fetched(&self) -> i64 {
        i64::try_from(self.limit.saturating_add(1)).unwrap_or(i64::MAX)
    }

    /// What is on the page, of steps newest first, and after which item the next page begins.
    pub(super) fn found(&self, steps: &[Step]) -> (Vec<Uuid>, Option<MediaId>) {
        let (found, next) = page::found(steps, self.limit);
        (found, next.map(MediaId::from))
    }
}
