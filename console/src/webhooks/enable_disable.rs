//! Disabling and enabling an endpoint, and sending what waits for it now.

use domain::reason::Reason;
use management::endpoints;
use poem::http::StatusCode;

use super::endpoint::{self, Said};
use crate::page::{Answer, PageRequest, see_other};

pub(crate) async fn disable(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id("endpoint")?);
    let caller = request.caller()?;
    let typed = request.form.get("reason");
    match Reason::try_from(typed.to_owned()) {
        Ok(reason) => {
            endpoints::disable(&request.management, &caller, id, &reason).await?;
            done(&request, "endpoint-disabled")
        }
        Err(wrong) => {
            let mut said = Said {
                reason: typed.to_owned(),
                ..Said::default()
            };
            said.problems.add("reason", wrong.to_string());
            endpoint::page(&request, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}

pub(crate) async fn enable(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id("endpoint")?);
    let caller = request.caller()?;
    endpoints::enable(&request.management, &caller, id).await?;
    done(&request, "endpoint-enabled")
}

pub(crate) async fn retry(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id("endpoint")?);
    let caller = request.caller()?;
    let due = endpoints::retry_now(&request.management, &caller, id).await?;
    done(&request, if due > 0 { "retried" } else { "nothing-waits" })
}

fn done(request: &PageRequest, what: &str) -> Answer {
    let path = endpoint::path(request)?;
    Ok(see_other(format!("{path}?done={what}")))
}
