//! One erasure: how far it has got, its certificate, and continuing it if it failed.

use std::sync::Arc;

use askama::Template;
use domain::{erasure::Counts, id::ErasureId, scope::Scope};
use management::erasures;

use super::Row;
use crate::{
    number::grouped,
    page::{self, Area, Frame},
    request::PageRequest,
    router::Answer,
};

#[derive(Template)]
#[template(path = "erasures/erasure.html")]
struct Shown {
    frame: Frame,
    team: Area,
    row: Row,
    site: Option<String>,
    /// What was removed so far, as label and number.
    counts: Vec<(&'static str, String)>,
    certificate: Option<String>,
    error: Option<String>,
    may_resume: bool,
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let frame = Frame::of(&request, Area::Team(team), "erasures").await?;
    let caller = request.caller(Some(team))?;
    let id: ErasureId = request.id("erasure")?;
    let erasure = erasures::get(&request.management, &caller, id).await?;
    let failed = erasure.state == domain::chain::State::Failed;
    Ok(page::shown(&Shown {
        may_resume: failed && frame.may(Scope::ErasuresWrite),
        frame,
        team: Area::Team(team),
        row: Row::from(&erasure),
        site: erasure.site.map(|site| site.to_string()),
        counts: counted(&erasure.counts),
        certificate: erasure.certificate,
        error: erasure.error,
    }))
}

pub(crate) async fn resume(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let id: ErasureId = request.id("erasure")?;
    erasures::resume(&request.management, &caller, id).await?;
    let place = format!("erasures/{id}?done=erasure-resumed");
    Ok(page::see_other(Area::Team(team).path(&place)))
}

fn counted(counts: &Counts) -> Vec<(&'static str, String)> {
    let rows = [
        ("Items", counts.items),
        ("of these without a verdict", counts.without_verdict),
        ("Items under a legal hold, left as they are", counts.held),
        ("Images", counts.images),
        ("Analyses and parts of them", counts.analyses),
        ("Matches with hash lists", counts.hash_matches),
        ("Verdicts whose reasons were removed", counts.verdicts),
        ("Notes", counts.notes),
        ("Reasons in reviews", counts.opinions),
        ("Reviews", counts.reviews),
        ("Events", counts.events),
        ("Deliveries", counts.deliveries),
        ("Idempotency keys", counts.idempotency_keys),
        ("Dead jobs", counts.dead_jobs),
    ];
    rows.into_iter()
        .map(|(label, count)| (label, grouped(count)))
        .collect()
}
