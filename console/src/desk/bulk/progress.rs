//! How far a bulk decision has got, and undoing it.

use askama::Template;
use domain::{chain::State, id::BulkDecisionId, media::Ruling};
use management::reviews::bulk::{self, Bulk};

use crate::{
    page::{self, Answer, Area, Frame, PageRequest},
    time::Moment,
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "desk/bulk_progress.html")]
struct Progress {
    frame: Frame,
    row: Row,
}

/// A bulk decision.
pub(super) struct Row {
    pub(super) id: BulkDecisionId,
    /// What is done to the items.
    pub(super) what: &'static str,
    pub(super) reason: VisibleText,
    pub(super) state: State,
    pub(super) tone: &'static str,
    pub(super) percent: i32,
    pub(super) total: i32,
    pub(super) done: i32,
    pub(super) skipped: i32,
    pub(super) undone: i32,
    pub(super) error: Option<String>,
    pub(super) started: Moment,
}

impl From<Bulk> for Row {
    fn from(bulk: Bulk) -> Self {
        let looked_at = bulk.done.saturating_add(bulk.skipped);
        Self {
            id: bulk.id,
            what: match bulk.decision {
                Ruling::Approve => "approve",
                Ruling::Reject => "reject",
            },
            reason: VisibleText::new(&bulk.reason, &[]),
            state: bulk.state,
            tone: match bulk.state {
                State::Running => "",
                State::Finished => "ok",
                State::Cancelled => "warn",
                State::Failed => "no",
            },
            percent: looked_at
                .saturating_mul(100)
                .checked_div(bulk.total)
                .unwrap_or(100),
            total: bulk.total,
            done: bulk.done,
            skipped: bulk.skipped,
            undone: bulk.undone,
            error: bulk.error,
            started: bulk.created_at.into(),
        }
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let found = bulk::get(&request.management, &caller, request.id("bulk")?).await?;
    Ok(page::shown(&Progress {
        frame: Frame::of(&request, "desk").await?,
        row: found.into(),
    }))
}

pub(crate) async fn undo(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let undone = bulk::cancel(&request.management, &caller, request.id("bulk")?).await?;
    request.lead_to(format!("desk/bulk/{}?done=bulk-undone", undone.id))
}
