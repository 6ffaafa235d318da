//! The items that wait for a person.

use chrono::{DateTime, Utc};
use domain::{id::SiteId, media::Status};
use management::{
    Caller, Management, Refused,
    media::{self, Filter},
};

use crate::number::grouped;

/// So many are counted.
const COUNTED: usize = 200;

/// The items that wait.
pub(super) struct Waiting {
    /// How many were counted.
    pub(super) counted: usize,
    /// Whether there may be more.
    pub(super) has_more: bool,
    /// When the oldest of the counted ones was accepted. They are the newest, if there are more.
    pub(super) oldest: Option<DateTime<Utc>>,
}

impl Waiting {
    pub(super) async fn of(
        management: &Management,
        caller: &Caller,
        site: Option<SiteId>,
    ) -> Result<Self, Refused> {
        let filter = Filter {
            site,
            status: Some(Status::PendingReview),
            ..Filter::default()
        };
        let page = media::list(management, caller, &filter, None, COUNTED).await?;
        Ok(Self {
            counted: page.media.len(),
            has_more: page.next.is_some(),
            oldest: page.media.last().map(|item| item.created_at),
        })
    }

    /// The number as people read it.
    pub(super) fn count(&self) -> String {
        let counted = grouped(i64::try_from(self.counted).unwrap_or(i64::MAX));
        if self.has_more {
            format!("{counted}+")
        } else {
            counted
        }
    }
}
