//! A test of an endpoint. The answer is shown in place.

use std::sync::Arc;

use management::endpoints;
use poem::http::StatusCode;

use super::{
    attempt::Shown,
    endpoint::{self, Said},
};
use crate::{problems::Problems, router::Answer, request::PageRequest};

pub(crate) async fn send(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id("endpoint")?);
    let caller = visit.caller(Some(team))?;
    match endpoints::ping(&visit.management, &caller, id).await {
        Ok(pinged) => {
            let said = Said {
                pinged: Some(Shown::from(pinged)),
                ..Said::default()
            };
            endpoint::page(&visit, StatusCode::OK, said).await
        }
        Err(refused) => {
            let said = Said {
                problems: Problems::of(refused)?,
                ..Said::default()
            };
            endpoint::page(&visit, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}
