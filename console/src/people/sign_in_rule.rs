//! The team's rule for signing in: whether everybody needs a second factor.

use std::sync::Arc;

use management::people::sign_in_rules::{self, Rules};

use crate::{page, request::PageRequest, router::Answer};

pub(crate) async fn change(request: Arc<PageRequest>) -> Answer {
    let (at, team) = (request.at()?, request.team()?);
    let caller = request.caller(Some(team))?;
    let wanted = Rules {
        factor_required: request.form.has("factor_required"),
    };
    sign_in_rules::update(&request.management, &caller, team, |_| wanted).await?;
    Ok(page::see_other(at.path("people?done=sign-in-rule")))
}
