//! The password again, before something delicate. The form that was sent is sent once more, together with the password, or
//! after the person has signed in again at the provider, in another tab.

use askama::Template;
use management::{Refused, account::sign_in};
use poem::{Response, http::StatusCode};

use crate::page::{self, PageError, PageRequest};

/// The field with the password. No other form has one of this name.
const FIELD: &str = "password_again";

#[derive(Template)]
#[template(path = "sign_in/reauthentication.html")]
struct Confirm<'a> {
    action: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    problem: Option<String>,
    /// Whether the person has a password.
    has_password: bool,
    /// Where the person can sign in again instead.
    provider: Option<&'a str>,
}

/// Takes the password if it was sent. `Err`: the answer, if the password is wrong.
pub(crate) async fn take(request: &PageRequest) -> Result<Result<(), Response>, PageError> {
    if !request.form.has(FIELD) {
        return Ok(Ok(()));
    }
    let (session, password) = (request.session()?, request.form.get(FIELD));
    match sign_in::give_password(&request.management, &request.visitor, session, password).await {
        Ok(()) => Ok(Ok(())),
        Err(Refused::SignInFailed) => {
            let problem = "The password is not right.".to_owned();
            Ok(Err(ask(request, Some(problem)).await))
        }
        Err(refused @ Refused::TooManyTries { .. }) => {
            Ok(Err(ask(request, Some(refused.to_string())).await))
        }
        Err(other) => Err(other.into()),
    }
}

/// Asks for it.
pub(crate) async fn ask(request: &PageRequest, problem: Option<String>) -> Response {
    let owner = request.mine().await.ok();
    let fields = request.form.without(FIELD);
    let status = if problem.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::FORBIDDEN
    };
    let page = Confirm {
        action: request.path(),
        fields: fields
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
        problem,
        has_password: owner.is_none_or(|owner| owner.has_password),
        provider: owner
            .filter(|owner| owner.is_connected)
            .and_then(|_| request.provider()),
    };
    page::html(status, &page)
}
