//! The hash lists that rules can name.

use domain::id::HashListId;
use management::{
    Caller,
    hash_lists::{self, VisibleHashList},
    rule_groups::Page,
};

use crate::page::{PageError, PageRequest, pager};

/// Lists that are known by name. Others are shown by their ids.
const MOST: i64 = 200;

/// The team's hash lists and the shared ones.
#[derive(Default)]
pub(super) struct Lists(pub(super) Vec<VisibleHashList>);

impl Lists {
    /// The lists.
    pub(super) async fn of(request: &PageRequest, caller: &Caller) -> Result<Self, PageError> {
        let page = pager::first(MOST);
        let lists = hash_lists::list(&request.management, caller, page).await?;
        Ok(Self(lists))
    }

    /// What a list is called.
    pub(super) fn name(&self, list: HashListId) -> String {
        let found = self.0.iter().find(|known| known.id == list);
        found.map_or_else(|| list.to_string(), |known| known.name.clone())
    }
}
