//! One policy: a new one, its form, and how it is deleted.

use std::sync::Arc;

use askama::Template;
use domain::{id::ReviewPolicyId, review::Severity, scope::Scope, score::Category};
use management::{
    Refused,
    review_policies::{self, ReviewPolicy, Settings},
};
use poem::http::StatusCode;

use super::form_values::Values;
use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    stale_form,
};

/// Fields of this page. What is wrong with anything else is told above the form.
const FIELDS: &[&str] = &[
    "code",
    "name",
    "guideline",
    "reason",
    "key",
    "severity",
    "categories",
    "rules",
    "typed",
];

#[derive(Template)]
#[template(path = "policies/policy.html")]
struct Page {
    frame: Frame,
    team: Area,
    /// The policy; none if it is a new one.
    policy: Option<ReviewPolicy>,
    values: Values,
    /// The settings that the person has seen.
    seen: String,
    problems: Problems,
}

impl Page {
    fn deletion(&self, policy: &ReviewPolicy) -> String {
        format!("{}/{}/delete", self.team.path("policies"), policy.id)
    }

    fn may_change(&self) -> bool {
        self.frame.may(Scope::ReviewsManage)
    }

    fn is_chosen(&self, category: Category) -> bool {
        let name = category.to_string();
        self.values.categories.contains(&name)
    }
}

pub(crate) async fn new(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let values = Values::of_form(&request.form);
    let problems = match values.parsed() {
        Ok(settings) => {
            let created =
                review_policies::create(&request.management, &caller, Some(team), &settings).await;
            match created {
                Ok(_) => {
                    let list = Area::Team(team).path("policies?done=policy-created");
                    return Ok(page::see_other(list));
                }
                Err(refused) => Problems::of(refused)?,
            }
        }
        Err(problems) => problems,
    };
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    form(&request, status, Some(values), problems).await
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    form(&request, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let id: ReviewPolicyId = request.id("policy")?;
    let values = Values::of_form(&request.form);
    let is_seen =
        |settings: &Settings| stale_form::is_seen(&request, &Values::of_settings(settings).seen());
    let (status, problems) = match values.parsed() {
        Ok(settings) => {
            let saved =
                review_policies::update_seen(&request.management, &caller, id, is_seen, settings);
            match saved.await {
                Ok(Ok(_)) => return Ok(page::see_other(format!("{}?done=saved", request.path()))),
                Ok(Err(outdated)) => (StatusCode::CONFLICT, stale_form::problems(&outdated)),
                Err(refused) => (StatusCode::UNPROCESSABLE_ENTITY, Problems::of(refused)?),
            }
        }
        Err(problems) => (StatusCode::UNPROCESSABLE_ENTITY, problems),
    };
    form(&request, status, Some(values), problems).await
}

pub(crate) async fn delete(request: Arc<PageRequest>) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let id: ReviewPolicyId = request.id("policy")?;
    let policy = review_policies::get(&request.management, &caller, id).await?;
    if request.form.get("typed") == policy.settings.code.as_str() {
        review_policies::delete(&request.management, &caller, id).await?;
        let list = Area::Team(team).path("policies?done=policy-deleted");
        return Ok(page::see_other(list));
    }
    let mut problems = Problems::default();
    problems.add("typed", "must be the code of the policy");
    form(&request, StatusCode::UNPROCESSABLE_ENTITY, None, problems).await
}

/// The form of the policy in the path, or of a new one.
async fn form(
    request: &PageRequest,
    status: StatusCode,
    typed: Option<Values>,
    problems: Problems,
) -> Answer {
    let team = request.team()?;
    let caller = request.caller(Some(team))?;
    let policy = match request.id::<ReviewPolicyId>("policy") {
        Ok(id) => Some(review_policies::get(&request.management, &caller, id).await?),
        // The path of a new policy names none; any other without an id is none.
        Err(_) if request.path().ends_with("/policies/new") => None,
        Err(_) => return Err(Refused::NotFound(management::Noun::Policy).into()),
    };
    let present = policy
        .as_ref()
        .map_or_else(Values::new, |policy| Values::of_settings(&policy.settings));
    let team = Area::Team(team);
    let page = Page {
        frame: Frame::of(request, team, "policies").await?,
        seen: stale_form::next(request, status, present.seen()),
        values: typed.unwrap_or(present),
        team,
        policy,
        problems,
    };
    Ok(page::html(status, &page))
}
