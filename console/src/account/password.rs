//! Changing the own password.

use std::sync::Arc;

use management::{Refused, account::sign_in};
use poem::http::StatusCode;

use crate::{page, problems::Problems, request::PageRequest, router::Answer};

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    let session = request.session()?;
    let (current, new) = (request.form.get("current"), request.form.get("new"));
    let changed =
        sign_in::change_password(&request.management, &request.visitor, session, current, new)
            .await;
    let mut problems = Problems::default();
    match changed {
        Ok(()) => return Ok(page::see_other("/account?done=password-changed")),
        Err(Refused::SignInFailed) => problems.add("current", "This is not your password."),
        Err(refused @ Refused::TooManyTries { .. }) => {
            problems.add("current", refused.to_string());
        }
        Err(Refused::Fields(fields)) => {
            for problem in fields.problems {
                problems.add("new", problem.message);
            }
        }
        Err(other) => return Err(other.into()),
    }
    super::page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}
