//! The team's rule for signing in: whether everybody needs a second factor.

use std::sync::Arc;

use management::people::sign_in_rules::{self, Rules};

use crate::{page, router::Answer, visit::Visit};

pub(crate) async fn change(visit: Arc<Visit>) -> Answer {
    let (at, team) = (visit.at()?, visit.team()?);
    let caller = visit.caller(Some(team))?;
    let wanted = Rules {
        factor_required: visit.form.has("factor_required"),
    };
    sign_in_rules::update(&visit.management, &caller, team, |_| wanted).await?;
    Ok(page::see_other(at.path("people?done=sign-in-rule")))
}
