//! A plan: making one, and changing what it allows.

use std::sync::Arc;

use askama::Template;
use domain::{id::PlanId, name::Name, scope::Scope};
use management::{
    Refused,
    plans::{self, Terms},
};
use poem::http::StatusCode;

use super::fields::{self, Field};
use crate::{
    error_page::PageError,
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
};

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

pub(crate) async fn new(request: Arc<PageRequest>) -> Answer {
    // The name of the usual terms is replaced by what is typed.
    let name: Result<Name, _> = "New plan".parse();
    let usual = name.map(Terms::named).map_err(|_| Refused::Internal)?;
    form(&request, None, Problems::default(), Some(usual)).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "plans").await?;
    frame.require(Scope::PlansWrite)?;
    let caller = request.caller(None)?;
    let created = match fields::read(&request.form) {
        Ok(terms) => plans::create(&request.management, &caller, terms).await,
        Err(refused) => Err(refused),
    };
    match created {
        Ok(_) => Ok(page::see_other(
            Area::Instance.path("plans?done=plan-created"),
        )),
        Err(refused) => form(&request, None, Problems::of(refused)?, None).await,
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "plans").await?;
    frame.require(Scope::PlansRead)?;
    let (id, caller) = (request.id("plan")?, request.caller(None)?);
    let plan = plans::get(&request.management, &caller, id).await?;
    form(&request, Some(id), Problems::default(), Some(plan.terms)).await
}

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    let frame = Frame::of(&request, Area::Instance, "plans").await?;
    frame.require(Scope::PlansWrite)?;
    let (id, caller) = (request.id("plan")?, request.caller(None)?);
    let changed = match fields::read(&request.form) {
        Ok(terms) => plans::update(&request.management, &caller, id, |_| terms).await,
        Err(refused) => Err(refused),
    };
    match changed {
        Ok(_) => Ok(page::see_other(
            Area::Instance.path("plans?done=plan-changed"),
        )),
        Err(refused) => form(&request, Some(id), Problems::of(refused)?, None).await,
    }
}

/// The form with these terms, or with what was sent.
async fn form(
    request: &PageRequest,
    plan: Option<PlanId>,
    problems: Problems,
    terms: Option<Terms>,
) -> Result<poem::Response, PageError> {
    let frame = Frame::of(request, Area::Instance, "plans").await?;
    let needed = match plan {
        Some(_) => Scope::PlansRead,
        None => Scope::PlansWrite,
    };
    let frame = frame.require(needed)?;
    let title = match plan {
        Some(id) => {
            let caller = request.caller(None)?;
            let plan = plans::get(&request.management, &caller, id).await?;
            plan.terms.name.into()
        }
        None => "New plan".to_owned(),
    };
    let status = match &terms {
        Some(_) => StatusCode::OK,
        None => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let page = Shown {
        frame,
        name: match (&terms, plan) {
            (Some(terms), Some(_)) => terms.name.as_str().to_owned(),
            (Some(_) | None, _) => request.form.get("name").to_owned(),
        },
        plan,
        title,
        fields: terms.map_or_else(|| fields::sent(&request.form), |terms| fields::of(&terms)),
        problems,
    };
    Ok(page::html(status, &page))
}
