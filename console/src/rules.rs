//! The rule groups of a team.

pub(crate) mod backtests;
mod diff;
pub(crate) mod draft;
pub(crate) mod group;
pub(crate) mod new;
mod names;
mod page_header;
mod pagination;
pub(crate) mod publish;
mod row;
pub(crate) mod rule;
pub(crate) mod settings;
pub(crate) mod shadow;
pub(crate) mod trial;
pub(crate) mod versions;
pub(crate) mod yaml;

use askama::Template;
use management::rule_groups::overview::{self, Placed};

use crate::page::{self, Answer, Frame, PageRequest, pager};

#[derive(Template)]
#[template(path = "rules.html")]
struct List {
    frame: Frame,
    groups: Vec<Placed>,
    /// The address of the next page.
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let groups = overview::list(&request.management, &caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        frame: Frame::of(&request, "rules").await?,
        next: pager::next(&request, &groups, |placed| placed.group.id),
        groups,
    }))
}
