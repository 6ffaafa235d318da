//! Links that are used once: joining a team, and choosing a new password.

use askama::Template;
use domain::{
    email::Email,
    id::TeamId,
    key::{LinkSecret, SecretHash},
    name::Name,
    role::Role,
};
use management::{
    FieldProblem, Noun, Refused,
    account::{
        Next, first_operator,
        one_time_links::{self, Accepted, Entry, Leads},
    },
};
use poem::{Response, http::StatusCode};

use super::{entered, entered_to_join, home};
use crate::page::{self, Answer, PageError, PageRequest};

#[derive(Template)]
#[template(path = "sign_in/join.html")]
struct Join<'a> {
    team: Option<String>,
    email: String,
    role: Role,
    entry: Entry,
    name: &'a str,
    /// What people call the provider of single sign-on, if the person can sign in there.
    provider: Option<&'a str>,
    /// The path with which the person does it.
    sign_on: String,
    problem: Problem,
}

#[derive(Template)]
#[template(path = "sign_in/first.html")]
struct First<'a> {
    team: Option<String>,
    email: &'a str,
    name: &'a str,
    problem: Problem,
}

#[derive(Template)]
#[template(path = "sign_in/reset.html")]
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

pub(crate) async fn show(request: PageRequest) -> Answer {
    form(&request, Problem::default(), StatusCode::OK).await
}

pub(crate) async fn follow(request: PageRequest) -> Answer {
    let link = link(&request)?;
    let password = request.form.get("password");
    let followed = match one_time_links::look(&request.management, link, request.held()).await? {
        Leads::Invitation { team, entry, .. } => {
            let team = team.map(|(team, _)| team);
            match entry {
                Entry::Confirm(_) => confirm(&request, link, team).await,
                Entry::Provider => Err(Refused::Invalid(
                    "This address belongs to the sign-in service: sign in there.".into(),
                )),
                Entry::NewAccount | Entry::Password => {
                    let name = request.form.get("name").trim().parse::<Name>();
                    if let (Err(error), Entry::NewAccount) = (&name, entry) {
                        let problem = Problem {
                            name: Some(error.to_string()),
                            ..Problem::default()
                        };
                        return form(&request, problem, StatusCode::UNPROCESSABLE_ENTITY).await;
                    }
                    accept(&request, link, team, name.ok().as_ref()).await
                }
            }
        }
        Leads::First { .. } => become_operator(&request, link, password).await,
        Leads::Reset { .. } => {
            let reset = one_time_links::reset_password(
                &request.management,
                &request.visitor,
                link,
                password,
            );
            let reset = reset.await;
            reset.map(|()| page::see_other("/sign-in?done=password-set"))
        }
    };
    let problem = match followed {
        Ok(response) => return Ok(response),
        Err(Refused::Fields(fields)) => of_fields(&fields.problems),
        Err(
            refused @ (Refused::SignInFailed
            | Refused::TooManyTries { .. }
            | Refused::Conflict(..)
            | Refused::Invalid(_)),
        ) => Problem {
            other: Some(refused.to_string()),
            ..Problem::default()
        },
        Err(other) => return Err(other.into()),
    };
    form(&request, problem, StatusCode::UNPROCESSABLE_ENTITY).await
}

/// Accepts the invitation with a password.
async fn accept(
    request: &PageRequest,
    link: SecretHash,
    team: Option<TeamId>,
    name: Option<&Name>,
) -> Result<Response, Refused> {
    let (management, visitor) = (&request.management, &request.visitor);
    let password = request.form.get("password");
    match one_time_links::accept(management, visitor, link, name, password).await? {
        Accepted::Joined(signed_in) => Ok(entered(&signed_in, team)),
        Accepted::SignedIn(signed_in) => {
            let secret = request.part::<LinkSecret>("link");
            let secret = secret.map_err(|_| Refused::NotFound(Noun::Link))?;
            Ok(entered_to_join(&signed_in, &secret))
        }
    }
}

/// Accepts the invitation as the person who is signed in.
async fn confirm(
    request: &PageRequest,
    link: SecretHash,
    team: Option<TeamId>,
) -> Result<Response, Refused> {
    let (management, visitor) = (&request.management, &request.visitor);
    let session = request.held().ok_or(Refused::Unauthenticated)?;
    let next = one_time_links::accept_signed_in(management, visitor, link, session).await?;
    Ok(match next {
        Next::Enter | Next::GiveFactor => page::see_other(home(team)),
        Next::SetUpFactor => page::see_other("/account/factor"),
    })
}

async fn become_operator(
    request: &PageRequest,
    link: SecretHash,
    password: &str,
) -> Result<Response, Refused> {
    let email: Email = request.form.read("email")?;
    let name: Name = request.form.read("name")?;
    let (management, visitor) = (&request.management, &request.visitor);
    let signed_in =
        first_operator::become_operator(management, visitor, link, &email, &name, password);
    Ok(entered(&signed_in.await?, None))
}

async fn form(request: &PageRequest, problem: Problem, status: StatusCode) -> Answer {
    match one_time_links::look(&request.management, link(request)?, request.held()).await? {
        Leads::Invitation {
            team,
            email,
            role,
            entry,
        } => {
            let page = Join {
                team: team.map(|(_, name)| name),
                email,
                role,
                provider: match &entry {
                    Entry::Provider | Entry::Password => request.provider(),
                    Entry::NewAccount | Entry::Confirm(_) => None,
                },
                sign_on: format!("{}/sign-on", request.path()),
                entry,
                name: request.form.get("name"),
                problem,
            };
            Ok(page::html(status, &page))
        }
        Leads::First { team } => {
            let page = First {
                team,
                email: request.form.get("email"),
                name: request.form.get("name"),
                problem,
            };
            Ok(page::html(status, &page))
        }
        Leads::Reset { email } => Ok(page::html(status, &Reset { email, problem })),
    }
}

fn link(request: &PageRequest) -> Result<SecretHash, PageError> {
    Ok(request.part::<LinkSecret>("link")?.hash())
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
