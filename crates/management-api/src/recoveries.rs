//! Recoveries: send again what an endpoint has missed or lost, watch, stop.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Accepted, Json},
};
use domain::id::{EndpointId, RecoveryId};
use management::{Management, recoveries};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{NewRecovery, Recovery};

pub(crate) struct Recoveries;

#[OpenApi(tag = "Tag::Webhooks")]
impl Recoveries {
    /// List recoveries of a webhook endpoint
    ///
    /// Newest first. Recoveries are kept for 90 days.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "get",
        operation_id = "listRecoveries"
    )]
    async fn list_recoveries(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Recovery>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = recoveries::list(&management, &caller, endpoint_id.0, part.page()).await?;
        Ok(Json(part.list(found, |recovery| recovery.id.as_uuid())))
    }

    /// Send events to a webhook endpoint again
    ///
    /// Puts the events that the endpoint has missed or lost on their way in the background, oldest first, and slowly enough
    /// not to flood the endpoint. Each delivery keeps its id and gets a whole schedule of attempts. An endpoint has at most
    /// one running recovery.
    #[oai(
        path = "/webhook-endpoints/:endpoint_id/recoveries",
        method = "post",
        operation_id = "createRecovery"
    )]
    async fn create_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The endpoint.
        endpoint_id: Path<EndpointId>,
        request: JsonBody<NewRecovery>,
    ) -> Result<Accepted<Recovery>, Refusal> {
        let new = request.value.into();
        let recovery = recoveries::create(&management, &caller, endpoint_id.0, new).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/webhook-recoveries/{}", recovery.id),
            value: recovery.into(),
        })
    }

    /// Read a recovery
    ///
    /// Shows how far it has got.
    #[oai(
        path = "/webhook-recoveries/:recovery_id",
        method = "get",
        operation_id = "getRecovery"
    )]
    async fn get_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let recovery = recoveries::get(&management, &caller, recovery_id.0).await?;
        Ok(Json(recovery.into()))
    }

    /// Cancel a recovery
    ///
    /// Deliveries that are on their way continue. A recovery that has ended stays as it is.
    #[oai(
        path = "/webhook-recoveries/:recovery_id/cancel",
        method = "post",
        operation_id = "cancelRecovery"
    )]
    async fn cancel_recovery(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The recovery.
        recovery_id: Path<RecoveryId>,
    ) -> Result<Json<Recovery>, Refusal> {
        let recovery = recoveries::cancel(&management, &caller, recovery_id.0).await?;
        Ok(Json(recovery.into()))
    }
}
