//! Plans, for operators: how much the teams that subscribe to them may use.

mod fields;

use askama::Template;
use domain::{id::PlanId, name::Name, plan::PerPeriod};
use management::{
    Refused,
    plans::{self, Plan, Terms},
};

use self::fields::Field;
use crate::{
    number::grouped,
    page::{self, Answer, Frame, PageRequest, Problems, pager},
};

/// Plans that forms offer.
const OFFERED: i64 = 200;

#[derive(Template)]
#[template(path = "plans.html")]
struct List {
    frame: Frame,
    rows: Vec<Plan>,
    next: Option<String>,
}

fn limit(limit: Option<PerPeriod>) -> String {
    limit.map_or_else(|| "no limit".to_owned(), |limit| grouped(limit.get()))
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let frame = Frame::of(&request, "plans").await?;
    let caller = request.caller()?;
    let listed = plans::list(&caller, pager::asked(&request)).await?;
    Ok(page::shown(&List {
        next: pager::next(&request, &listed, |plan| plan.id),
        rows: listed,
        frame,
    }))
}

/// The plans that a form offers: the oldest.
pub(crate) async fn offered(request: &PageRequest) -> Result<Vec<Plan>, Refused> {
    let caller = request.caller()?;
    plans::list(&caller, pager::first(OFFERED)).await
}

/// The same, with the present one among them.
pub(crate) async fn offered_with(
    request: &PageRequest,
    present: PlanId,
) -> Result<Vec<Plan>, Refused> {
    let mut offered = offered(request).await?;
    if !offered.iter().any(|plan| plan.id == present) {
        let caller = request.caller()?;
        offered.push(plans::get(&caller, present).await?);
    }
    Ok(offered)
}

/// What is wrong with a plan that was chosen in a form.
pub(crate) const NO_SUCH_PLAN: &str = "must be one of the plans";

#[derive(Template)]
#[template(path = "plans/plan.html")]
struct Shown {
    frame: Frame,
    /// None: a new one.
    plan: Option<PlanId>,
    /// What the plan is called, and what is in the form.
    title: String,
    name: String,
    fields: Vec<Field>,
    problems: Problems,
}

pub(crate) async fn new(request: PageRequest) -> Answer {
    // The name of the usual terms is replaced by what is typed.
    let name: Result<Name, _> = "New plan".parse();
    let usual = name.map(Terms::named).map_err(|_| Refused::Internal)?;
    form(&request, None, Problems::default(), Some(usual)).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let problems = match fields::read(&request.form) {
        Ok(terms) => match plans::create(&caller, terms).await {
            Ok(_) => return request.lead_to("plans?done=plan-created"),
            Err(refused) => Problems::of(refused)?,
        },
        Err(problems) => problems,
    };
    form(&request, None, problems, None).await
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("plan")?, request.caller()?);
    let plan = plans::get(&caller, id).await?;
    form(&request, Some(id), Problems::default(), Some(plan.terms)).await
}

pub(crate) async fn change(request: PageRequest) -> Answer {
    let (id, caller) = (request.id("plan")?, request.caller()?);
    let problems = match fields::read(&request.form) {
        Ok(terms) => match plans::update(&caller, id, |_| terms).await {
            Ok(_) => return request.lead_to("plans?done=plan-changed"),
            Err(refused) => Problems::of(refused)?,
        },
        Err(problems) => problems,
    };
    form(&request, Some(id), problems, None).await
}

/// The form with these terms, or with what was sent.
async fn form(
    request: &PageRequest,
    plan: Option<PlanId>,
    problems: Problems,
    terms: Option<Terms>,
) -> Answer {
    let title = match plan {
        Some(id) => {
            let caller = request.caller()?;
            let plan = plans::get(&caller, id).await?;
            plan.terms.name.into()
        }
        None => "New plan".to_owned(),
    };
    let page = Shown {
        frame: Frame::of(request, "plans").await?,
        name: match (&terms, plan) {
            (Some(terms), Some(_)) => terms.name.as_str().to_owned(),
            (Some(_) | None, _) => request.form.get("name").to_owned(),
        },
        plan,
        title,
        fields: terms.map_or_else(|| fields::sent(&request.form), |terms| fields::of(&terms)),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
