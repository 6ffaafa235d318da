//! Changing the own password.

use std::sync::Arc;

use management::{Refused, account::sign_in};
use poem::http::StatusCode;

use super::Problems;
use crate::{page, router::Answer, visit::Visit};

pub(crate) async fn change(visit: Arc<Visit>) -> Answer {
    let session = visit.session()?;
    let (current, new) = (visit.form.get("current"), visit.form.get("new"));
    let changed =
        sign_in::change_password(&visit.management, &visit.visitor, session, current, new).await;
    let problems = match changed {
        Ok(()) => return Ok(page::see_other("/account?done=password-changed")),
        Err(Refused::SignInFailed) => Problems {
            current: Some("This is not your password.".to_owned()),
            new: None,
        },
        Err(refused @ Refused::TooManyTries { .. }) => Problems {
            current: Some(refused.to_string()),
            new: None,
        },
        Err(Refused::Fields(fields)) => Problems {
            current: None,
            new: fields
                .problems
                .into_iter()
                .next()
                .map(|problem| problem.message),
        },
        Err(other) => return Err(other.into()),
    };
    super::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}
