//! A test of an endpoint. The answer is shown in place.

use management::endpoints;
use poem::http::StatusCode;

use super::{
    attempt::Shown,
    endpoint::{self, Said},
};
use crate::page::{Answer, PageRequest, Problems};

pub(crate) async fn send(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id("endpoint")?);
    let caller = request.caller()?;
    match endpoints::ping(&request.management, &caller, id).await {
        Ok(pinged) => {
            let said = Said {
                pinged: Some(Shown::from(pinged)),
                ..Said::default()
            };
            endpoint::page(&request, StatusCode::OK, said).await
        }
        Err(refused) => {
            let said = Said {
                problems: Problems::of(refused)?,
                ..Said::default()
            };
            endpoint::page(&request, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}
