//! Signing in with an e-mail address and a password, and signing out.

use askama::Template;
use management::{Refused, account::sign_in};
use poem::http::{StatusCode, header};

use super::entered;
use crate::{
    cookie,
    page::{self, Answer, PageRequest},
};

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
            Ok(page::html(page.problems.status(), &page))
        }
        Err(other) => Err(other.into()),
    }
}

pub(crate) async fn leave(request: PageRequest) -> Answer {
    if let Some(session) = request.held() {
        sign_in::sign_out(&request.management, &request.visitor, session).await?;
    }
    let mut response = page::see_other("/sign-in?done=signed-out");
    response
        .headers_mut()
        .insert(header::SET_COOKIE, cookie::forget());
    // Pages that the browser kept for its Back button are gone, too.
    let kept = "\"cache\"".parse().expect("it is a header's value");
    response.headers_mut().insert("clear-site-data", kept);
    Ok(response)
}
