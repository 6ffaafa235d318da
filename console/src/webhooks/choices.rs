//! What a field offers to choose from.

use std::fmt::Display;

use domain::id::{SiteId, TeamId};
use management::sites::{self, Page};

use crate::page::{PageError, PageRequest, pager};

/// Sites that are offered.
const SITES: i64 = 200;

/// One of several values.
pub(super) struct Choice {
    pub(super) value: String,
    pub(super) name: String,
    pub(super) is_chosen: bool,
}

impl Choice {
    pub(super) fn new(value: impl Display, name: impl Into<String>, chosen: &str) -> Self {
        let value = value.to_string();
        Self {
            is_chosen: value == chosen,
            value,
            name: name.into(),
        }
    }
}

/// The values of a closed set under their own names.
pub(super) fn all<T: Copy + Display>(values: &[T], chosen: &str) -> Vec<Choice> {
    let values = values.iter();
    values
        .map(|value| Choice::new(value, value.to_string(), chosen))
        .collect()
}

/// The sites of a team. If there are more than are offered, the one that was chosen is still there.
pub(super) async fn sites(
    request: &PageRequest,
    team: TeamId,
    chosen: Option<SiteId>,
) -> Result<Vec<Choice>, PageError> {
    let caller = request.caller()?;
    let page = pager::first(SITES);
    let sites = sites::list(&request.management, &caller, page).await?;
    let text = chosen.map_or_else(String::new, |site| site.to_string());
    let offered = sites.into_iter();
    let mut offered: Vec<Choice> = offered
        .map(|site| Choice::new(site.id, site.settings.name, &text))
        .collect();
    if chosen.is_some() && !offered.iter().any(|choice| choice.is_chosen) {
        offered.push(Choice::new(&text, &text, &text));
    }
    Ok(offered)
}
