//! Plans, for operators: how much the teams that subscribe to them may use.

pub(crate) mod fields;
pub(crate) mod plan;

use std::sync::Arc;

use askama::Template;
use domain::id::PlanId;
use management::{
    Refused,
    plans::{self, Plan},
    sites::Page,
};

use crate::{
    number::grouped,
    page::{self, Area, Frame, pager},
    request::PageRequest,
    router::Answer,
};

/// Plans that forms offer.
const OFFERED: i64 = 200;

#[derive(Template)]
#[template(path = "plans.html")]
struct List {
    frame: Frame,
    rows: Vec<Row>,
    next: Option<String>,
}

struct Row {
    id: PlanId,
    name: String,
    submissions: String,
    deliveries: String,
    per_minute: String,
    sites: String,
}

impl From<Plan> for Row {
    fn from(plan: Plan) -> Self {
        let terms = plan.terms;
        let limit = |limit: Option<i64>| limit.map_or_else(|| "no limit".to_owned(), grouped);
        Self {
            id: plan.id,
            name: terms.name.into(),
            submissions: limit(terms.submissions_per_period.map(i64::from)),
            deliveries: limit(terms.deliveries_per_period.map(i64::from)),
            per_minute: grouped(terms.submissions_per_minute.get()),
            sites: grouped(terms.limits.sites_per_team.get()),
        }
    }
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "plans").await?;
    let caller = request.caller(None)?;
    let listed = plans::list(&request.management, &caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |plan| plan.id),
        rows: listed.into_iter().map(Row::from).collect(),
        frame,
    }))
}

/// The plans that a form offers: the oldest.
pub(crate) async fn offered(request: &PageRequest) -> Result<Vec<Plan>, Refused> {
    let caller = request.caller(None)?;
    let page = Page {
        after: None,
        limit: OFFERED,
    };
    plans::list(&request.management, &caller, page).await
}

/// The same, with the present one among them.
pub(crate) async fn offered_with(
    request: &PageRequest,
    present: PlanId,
) -> Result<Vec<Plan>, Refused> {
    let mut offered = offered(request).await?;
    if !offered.iter().any(|plan| plan.id == present) {
        let caller = request.caller(None)?;
        offered.push(plans::get(&request.management, &caller, present).await?);
    }
    Ok(offered)
}

/// The plan that was chosen in a form.
pub(crate) fn id(chosen: &str) -> Result<PlanId, Refused> {
    let id = chosen.parse();
    id.map_err(|_| Refused::field("plan_id", "must be one of the plans"))
}
