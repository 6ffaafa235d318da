//! Links that are used once: joining a team, and choosing a new password.

use std::sync::Arc;

use askama::Template;
use domain::{
    email::Email,
    key::{LinkSecret, SecretHash},
    name::Name,
    role::Role,
};
use management::{
    FieldProblem, Refused,
    account::{
        first,
        links::{self, Leads},
    },
};
use poem::{Response, http::StatusCode};

use super::entered;
use crate::{page, router::Answer, trouble::Trouble, visit::Visit};

#[derive(Template)]
#[template(path = "door/join.html")]
struct Join<'a> {
    team: Option<String>,
    email: String,
    role: Role,
    has_account: bool,
    name: &'a str,
    problem: Problem,
}

#[derive(Template)]
#[template(path = "door/first.html")]
struct First<'a> {
    team: Option<String>,
    email: &'a str,
    name: &'a str,
    problem: Problem,
}

#[derive(Template)]
#[template(path = "door/reset.html")]
struct Reset {
    email: String,
    problem: Problem,
}

/// What is wrong with what was typed.
#[derive(Default)]
struct Problem {
    email: Option<String>,
    name: Option<String>,
    password: Option<String>,
    other: Option<String>,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    form(&visit, Problem::default(), StatusCode::OK).await
}

pub(crate) async fn follow(visit: Arc<Visit>) -> Answer {
    let link = link(&visit)?;
    let password = visit.form.get("password");
    let followed = match links::look(&visit.management, link).await? {
        Leads::Invitation {
            team, has_account, ..
        } => {
            let name = visit.form.get("name").trim().parse::<Name>();
            if let (Err(error), false) = (&name, has_account) {
                let problem = Problem {
                    name: Some(error.to_string()),
                    ..Problem::default()
                };
                return form(&visit, problem, StatusCode::UNPROCESSABLE_ENTITY).await;
            }
            let name = name.ok();
            let joined = links::accept(
                &visit.management,
                &visit.visitor,
                link,
                name.as_ref(),
                password,
            );
            let team = team.map(|(team, _)| team);
            joined.await.map(|signed_in| entered(&signed_in, team))
        }
        Leads::First { .. } => become_operator(&visit, link, password).await,
        Leads::Reset { .. } => {
            let reset = links::reset_password(&visit.management, &visit.visitor, link, password);
            let reset = reset.await;
            reset.map(|()| page::see_other("/sign-in?done=password-set"))
        }
    };
    let problem = match followed {
        Ok(response) => return Ok(response),
        Err(Refused::Fields(fields)) => of_fields(&fields.problems),
        Err(
            refused
            @ (Refused::SignInFailed | Refused::TooManyTries { .. } | Refused::Conflict(..)),
        ) => Problem {
            other: Some(refused.to_string()),
            ..Problem::default()
        },
        Err(other) => return Err(other.into()),
    };
    form(&visit, problem, StatusCode::UNPROCESSABLE_ENTITY).await
}

async fn become_operator(
    visit: &Visit,
    link: SecretHash,
    password: &str,
) -> Result<Response, Refused> {
    let email = visit.form.get("email").trim().parse::<Email>();
    let email = email.map_err(|wrong| Refused::field("email", wrong.to_string()))?;
    let name = visit.form.get("name").trim().parse::<Name>();
    let name = name.map_err(|wrong| Refused::field("name", wrong.to_string()))?;
    let (management, visitor) = (&visit.management, &visit.visitor);
    let signed_in = first::become_operator(management, visitor, link, &email, &name, password);
    Ok(entered(&signed_in.await?, None))
}

async fn form(visit: &Visit, problem: Problem, status: StatusCode) -> Answer {
    match links::look(&visit.management, link(visit)?).await? {
        Leads::Invitation {
            team,
            email,
            role,
            has_account,
        } => {
            let page = Join {
                team: team.map(|(_, name)| name),
                email,
                role,
                has_account,
                name: visit.form.get("name"),
                problem,
            };
            Ok(page::html(status, &page))
        }
        Leads::First { team } => {
            let page = First {
                team,
                email: visit.form.get("email"),
                name: visit.form.get("name"),
                problem,
            };
            Ok(page::html(status, &page))
        }
        Leads::Reset { email } => Ok(page::html(status, &Reset { email, problem })),
    }
}

fn link(visit: &Visit) -> Result<SecretHash, Trouble> {
    Ok(visit.part::<LinkSecret>("link")?.hash())
}

fn of_fields(problems: &[FieldProblem]) -> Problem {
    let about = |field: &str| {
        let mut problems = problems.iter();
        let found = problems.find(|problem| problem.field == field);
        found.map(|problem| problem.message.clone())
    };
    Problem {
        email: about("email"),
        name: about("name"),
        password: about("password"),
        other: None,
    }
}
