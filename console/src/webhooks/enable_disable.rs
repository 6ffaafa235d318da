//! Disabling and enabling an endpoint, and sending what waits for it now.

use std::sync::Arc;

use domain::reason::Reason;
use management::endpoints;
use poem::http::StatusCode;

use super::endpoint::{self, Said};
use crate::{page::see_other, router::Answer, request::PageRequest};

pub(crate) async fn disable(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let typed = visit.form.get("reason");
    match Reason::try_from(typed.to_owned()) {
        Ok(reason) => {
            endpoints::disable(&visit.management, &caller, id, &reason).await?;
            done(&visit, "endpoint-disabled")
        }
        Err(wrong) => {
            let mut said = Said {
                reason: typed.to_owned(),
                ..Said::default()
            };
            said.problems.add("reason", wrong.to_string());
            endpoint::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}

pub(crate) async fn enable(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id("endpoint")?);
    let caller = visit.caller(Some(team))?;
    endpoints::enable(&visit.management, &caller, id).await?;
    done(&visit, "endpoint-enabled")
}

pub(crate) async fn retry(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let due = endpoints::retry_now(&visit.management, &caller, id).await?;
    done(&visit, if due > 0 { "retried" } else { "nothing-waits" })
}

fn done(visit: &PageRequest, what: &str) -> Answer {
    let path = endpoint::path(visit)?;
    Ok(see_other(format!("{path}?done={what}")))
}
