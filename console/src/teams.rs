//! The teams of the instance, for operators.

pub(crate) mod new;
pub(crate) mod team;

use std::sync::Arc;

use askama::Template;
use domain::id::TeamId;
use management::teams;

use crate::{
    page::{self, Area, Frame, pager},
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "teams.html")]
struct List {
    frame: Frame,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: TeamId,
    name: String,
    created: Moment,
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "teams").await?;
    let caller = request.caller(None)?;
    let listed = teams::list(&request.management, &caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |team| team.id),
        rows: listed
            .into_iter()
            .map(|team| Row {
                id: team.id,
                name: team.name,
                created: team.created_at.into(),
            })
            .collect(),
        frame,
    }))
}
