//! The rule groups of a team.

pub(crate) mod backtests;
mod cut;
mod difference;
pub(crate) mod draft;
pub(crate) mod group;
mod head;
mod hits;
mod lists;
pub(crate) mod new;
mod people;
pub(crate) mod places;
pub(crate) mod publish;
mod row;
pub(crate) mod rule;
mod sent;
pub(crate) mod shadow;
mod slice;
pub(crate) mod trial;
pub(crate) mod versions;
pub(crate) mod yaml;

use std::sync::Arc;

use askama::Template;
use management::rule_groups::overview::{self, Placed};

use crate::{
    page::{self, At, Frame, pager},
    router::Answer,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "rules.html")]
struct List {
    frame: Frame,
    team: At,
    groups: Vec<Placed>,
    /// The address of the next page.
    next: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let groups = overview::list(&visit.management, &caller, pager::asked(&visit)).await?;
    Ok(page::shown(&List {
        frame: Frame::of(&visit, At::Team(team), "rules").await?,
        team: At::Team(team),
        next: pager::next(&visit, &groups, |placed| placed.group.id),
        groups,
    }))
}
