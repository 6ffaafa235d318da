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
    router::Answer,
    stale_form,
    request::PageRequest,
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

pub(crate) async fn new(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let values = Values::of_form(&visit.form);
    let problems = match values.parsed() {
        Ok(settings) => {
            let created =
                review_policies::create(&visit.management, &caller, Some(team), &settings).await;
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
    form(&visit, status, Some(values), problems).await
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    form(&visit, StatusCode::OK, None, Problems::default()).await
}

pub(crate) async fn change(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let id: ReviewPolicyId = visit.id("policy")?;
    let values = Values::of_form(&visit.form);
    let is_seen =
        |settings: &Settings| stale_form::is_seen(&visit, &Values::of_settings(settings).seen());
    let (status, problems) = match values.parsed() {
        Ok(settings) => {
            let saved =
                review_policies::update_seen(&visit.management, &caller, id, is_seen, settings);
            match saved.await {
                Ok(Ok(_)) => return Ok(page::see_other(format!("{}?done=saved", visit.path()))),
                Ok(Err(outdated)) => (StatusCode::CONFLICT, stale_form::problems(&outdated)),
                Err(refused) => (StatusCode::UNPROCESSABLE_ENTITY, Problems::of(refused)?),
            }
        }
        Err(problems) => (StatusCode::UNPROCESSABLE_ENTITY, problems),
    };
    form(&visit, status, Some(values), problems).await
}

pub(crate) async fn delete(visit: Arc<PageRequest>) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let id: ReviewPolicyId = visit.id("policy")?;
    let policy = review_policies::get(&visit.management, &caller, id).await?;
    if visit.form.get("typed") == policy.settings.code.as_str() {
        review_policies::delete(&visit.management, &caller, id).await?;
        let list = Area::Team(team).path("policies?done=policy-deleted");
        return Ok(page::see_other(list));
    }
    let mut problems = Problems::default();
    problems.add("typed", "must be the code of the policy");
    form(&visit, StatusCode::UNPROCESSABLE_ENTITY, None, problems).await
}

/// The form of the policy in the path, or of a new one.
async fn form(
    visit: &PageRequest,
    status: StatusCode,
    typed: Option<Values>,
    problems: Problems,
) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let policy = match visit.id::<ReviewPolicyId>("policy") {
        Ok(id) => Some(review_policies::get(&visit.management, &caller, id).await?),
        // The path of a new policy names none; any other without an id is none.
        Err(_) if visit.path().ends_with("/policies/new") => None,
        Err(_) => return Err(Refused::NotFound(management::Noun::Policy).into()),
    };
    let present = policy
        .as_ref()
        .map_or_else(Values::new, |policy| Values::of_settings(&policy.settings));
    let team = Area::Team(team);
    let page = Page {
        frame: Frame::of(visit, team, "policies").await?,
        seen: stale_form::next(visit, status, present.seen()),
        values: typed.unwrap_or(present),
        team,
        policy,
        problems,
    };
    Ok(page::html(status, &page))
}
