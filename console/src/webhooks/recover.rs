//! Sending an endpoint again what it has missed or lost, and stopping that.

use std::sync::Arc;

use domain::id::{EndpointId, RecoveryId};
use management::recoveries;
use poem::http::StatusCode;

use super::{
    endpoint::{self, Said},
    recovery_form::Wanted,
};
use crate::{page::see_other, problems::Problems, router::Answer, request::PageRequest};

pub(crate) async fn start(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id::<EndpointId>("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let wanted = Wanted::sent(&visit.form);
    let started = match wanted.read() {
        Ok(new) => recoveries::create(&visit.management, &caller, id, new).await,
        Err(refused) => Err(refused),
    };
    match started {
        Ok(_) => {
            let path = endpoint::path(&visit)?;
            Ok(see_other(format!("{path}?done=recovery-started")))
        }
        Err(refused) => {
            let said = Said {
                wanted: Some(wanted),
                problems: Problems::of(refused)?,
                ..Said::default()
            };
            endpoint::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}

pub(crate) async fn cancel(visit: Arc<PageRequest>) -> Answer {
    let (team, recovery) = (visit.team()?, visit.id::<RecoveryId>("recovery")?);
    let caller = visit.caller(Some(team))?;
    recoveries::cancel(&visit.management, &caller, recovery).await?;
    let path = endpoint::path(&visit)?;
    Ok(see_other(format!("{path}?done=recovery-cancelled")))
}
