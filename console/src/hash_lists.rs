//! Hash lists of a team, and those that all teams share.

pub(crate) mod entries;
pub(crate) mod imports;
pub(crate) mod new;
mod page_header;
pub(crate) mod scans;
pub(crate) mod settings;

use std::sync::Arc;

use askama::Template;
use management::hash_lists::{self, VisibleHashList};

use crate::{
    page::{self, Area, Frame, pager},
    request::PageRequest,
    router::Answer,
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "hash_lists.html")]
struct List {
    frame: Frame,
    team: Area,
    /// With their descriptions.
    lists: Vec<(VisibleHashList, Option<VisibleText>)>,
    /// The address of the next page.
    next: Option<String>,
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let team = request.at()?;
    let caller = request.caller(team.team())?;
    let asked = pager::asked(&request);
    let lists = match team {
        Area::Instance => hash_lists::shared(&request.management, &caller, asked).await?,
        Area::Team(_) | Area::Own => hash_lists::list(&request.management, &caller, asked).await?,
    };
    Ok(page::shown(&List {
        frame: Frame::of(&request, team, "hash-lists").await?,
        team,
        next: pager::next(&request, &lists, |list| list.id),
        lists: lists.into_iter().map(described).collect(),
    }))
}

fn described(list: VisibleHashList) -> (VisibleHashList, Option<VisibleText>) {
    let description = list.description.as_deref();
    let description = description.map(|text| VisibleText::truncated(text, LONGEST));
    (list, description)
}

/// Characters of a description in the table.
const LONGEST: usize = 120;
