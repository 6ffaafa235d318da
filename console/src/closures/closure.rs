//! One closure: how far it has got, its exports and erasures, and cancelling it.

use std::sync::Arc;

use askama::Template;
use domain::{closure::ClosureState, id::ClosureId, scope::Scope};
use management::closures::{self, ClosedSite};

use super::Row;
use crate::{
    page::{self, Area, Frame},
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "closures/closure.html")]
struct Shown {
    frame: Frame,
    at: Area,
    row: Row,
    team: String,
    sites: Vec<ClosedSite>,
    error: Option<String>,
    may_cancel: bool,
    may_resume: bool,
    may_export: bool,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let frame = Frame::of(&request, at, "closures").await?;
    let caller = request.caller(at.team())?;
    let id: ClosureId = request.id("closure")?;
    let closure = closures::get(&request.management, &caller, id).await?;
    let may = frame.may(Scope::ClosuresWrite);
    Ok(page::shown(&Shown {
        may_cancel: may && closure.state == ClosureState::Grace,
        may_resume: may && closure.state == ClosureState::Failed,
        may_export: frame.may(Scope::SitesExport) && closure.state == ClosureState::Grace,
        frame,
        at,
        row: Row::from(&closure),
        team: closure.team.to_string(),
        sites: closure.sites,
        error: closure.error,
    }))
}

pub(crate) async fn cancel(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let caller = request.caller(at.team())?;
    let id: ClosureId = request.id("closure")?;
    closures::cancel(&request.management, &caller, id).await?;
    Ok(page::see_other(
        at.path(&format!("closures/{id}?done=closure-cancelled")),
    ))
}

pub(crate) async fn resume(request: Arc<PageRequest>) -> Answer {
    let at = request.at()?;
    let caller = request.caller(at.team())?;
    let id: ClosureId = request.id("closure")?;
    closures::resume(&request.management, &caller, id).await?;
    Ok(page::see_other(
        at.path(&format!("closures/{id}?done=closure-resumed")),
    ))
}
