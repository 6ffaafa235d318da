//! What somebody sees who is not signed in yet, or must prove something again: the password, and the code of the second factor.

pub(crate) mod one_time_link;
pub(crate) mod reauthentication;
pub(crate) mod single_sign_on;

use askama::Template;
use domain::{id::TeamId, key::LinkSecret};
use management::{
    Refused,
    account::{Next, SignedIn, sign_in},
};
use poem::{Response, http::StatusCode};

use crate::{
    cookie,
    page::{self, Answer, Area, PageRequest},
};

/// Has the browser hold the session, and leads to what must be done next: in the end to this team,
/// or to the start.
fn entered(signed_in: &SignedIn, team: Option<TeamId>) -> Response {
    let there = page::see_other(match (signed_in.next, team) {
        (Next::Enter, team) => home(team),
        (Next::GiveFactor, Some(team)) => format!("/sign-in/code?team={team}"),
        (Next::GiveFactor, None) => "/sign-in/code".to_owned(),
        (Next::SetUpFactor, _) => "/account/factor".to_owned(),
    });
    cookie::set(there, cookie::hold(&signed_in.secret))
}

/// Has the browser hold the session, and leads back to the invitation, which the person can accept now.
fn entered_to_join(signed_in: &SignedIn, link: &LinkSecret) -> Response {
    let link = link.expose();
    let there = page::see_other(match signed_in.next {
        Next::Enter => format!("/links/{link}"),
        Next::GiveFactor => format!("/sign-in/code?link={link}"),
        Next::SetUpFactor => "/account/factor".to_owned(),
    });
    cookie::set(there, cookie::hold(&signed_in.secret))
}

/// The first page of this team, or the start.
fn home(team: Option<TeamId>) -> String {
    team.map_or_else(|| "/".to_owned(), |team| Area::Team(team).home())
}

#[derive(Default, Template)]
#[template(path = "sign_in/password_form.html")]
struct SignIn<'a> {
    email: &'a str,
    problem: Option<String>,
    /// What people call the provider of single sign-on.
    provider: Option<&'a str>,
    done: Option<&'static str>,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let done = match request.query.get("done") {
        "signed-out" => Some("You are signed out."),
        "password-set" => Some(
            "Your new password is set. Everything else that could sign in has ended. Sign in with the new password.",
        ),
        _ => None,
    };
    Ok(page::shown(&SignIn {
        done,
        provider: request.provider(),
        ..SignIn::default()
    }))
}

pub(crate) async fn enter(request: PageRequest) -> Answer {
    let (email, password) = (request.form.get("email"), request.form.get("password"));
    match sign_in::sign_in(&request.management, &request.visitor, email, password).await {
        Ok(signed_in) => Ok(entered(&signed_in, None)),
        Err(refused @ (Refused::SignInFailed | Refused::TooManyTries { .. })) => {
            let status = match refused {
                Refused::TooManyTries { .. } => StatusCode::TOO_MANY_REQUESTS,
                _ => StatusCode::UNPROCESSABLE_ENTITY,
            };
            let page = SignIn {
                email,
                problem: Some(refused.to_string()),
                provider: request.provider(),
                done: None,
            };
            Ok(page::html(status, &page))
        }
        Err(other) => Err(other.into()),
    }
}

pub(crate) async fn leave(request: PageRequest) -> Answer {
    if let Some(session) = request.held() {
        sign_in::sign_out(&request.management, &request.visitor, session).await?;
    }
    let signed_out = page::see_other("/sign-in?done=signed-out");
    let mut response = cookie::set(signed_out, cookie::forget());
    // Pages that the browser kept for its Back button are gone, too.
    let kept = "\"cache\"".parse().expect("it is a header's value");
    response.headers_mut().insert("clear-site-data", kept);
    Ok(response)
}

#[derive(Template)]
#[template(path = "sign_in/second_factor.html")]
struct Code<'a> {
    /// Where the person goes on, if not to the start: to this team, or to an invitation with this link.
    team: &'a str,
    link: &'a str,
    problem: Option<String>,
}

pub(crate) async fn ask_code(request: PageRequest) -> Answer {
    request.session()?;
    Ok(page::shown(&Code {
        team: request.query.get("team"),
        link: request.query.get("link"),
        problem: None,
    }))
}

pub(crate) async fn give_code(request: PageRequest) -> Answer {
    let session = request.session()?;
    let code = request.form.get("code");
    match sign_in::give_code(&request.management, &request.visitor, session, code).await {
        Ok(secret) => {
            let team = request.form.get("team").parse().ok();
            let link = request.form.get("link").parse::<LinkSecret>().ok();
            let there = link.map_or_else(|| home(team), |link| format!("/links/{}", link.expose()));
            Ok(cookie::set(page::see_other(there), cookie::hold(&secret)))
        }
        Err(refused @ (Refused::WrongCode | Refused::TooManyTries { .. })) => {
            let page = Code {
                team: request.form.get("team"),
                link: request.form.get("link"),
                problem: Some(refused.to_string()),
            };
            Ok(page::html(StatusCode::UNPROCESSABLE_ENTITY, &page))
        }
        Err(other) => Err(other.into()),
    }
}
