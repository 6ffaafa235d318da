//! Closures: close a site or a team, watch it, cancel it while that is possible.

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
use domain::id::ClosureId;
use management::{Management, closures};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
use schemas::{Closure, NewClosure};

pub(crate) struct Closures;

#[OpenApi(tag = "Tag::Closures")]
impl Closures {
    /// List closures
    ///
    /// Newest first. Closures are kept for 90 days after their end.
    #[oai(path = "/closures", method = "get", operation_id = "listClosures")]
    async fn list_closures(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Closure>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = closures::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(found, |closure| closure.id.as_uuid())))
    }

    /// Close a site or a team
    ///
    /// Name exactly one of `site_id` and `team_id`, and repeat its `name`. From the answer on, submissions for the site, or for all
    /// sites of the team, are refused with 403 `site_closed`. An export of each site is created, which can be read until
    /// `erase_at`. Until then, the closure can be cancelled. After it, everything that is stored about the sites is erased, site by
    /// site, with a certificate for each, and their keys, webhook endpoints and settings are removed. For a team, tokens are
    /// disabled then, people other than owners are removed, and the subscription ends.
    ///
    /// A closure is refused while a legal hold of the site or team is in force. If one is created during the grace, the closure
    /// waits until it is lifted, and looks once a day. A team can have 1,000 closures, each of which is kept for 90 days after its
    /// end.
    #[oai(path = "/closures", method = "post", operation_id = "createClosure")]
    async fn create_closure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewClosure>,
    ) -> Result<Accepted<Closure>, Refusal> {
        let wanted = request.value.read()?;
        let closure = closures::create(&management, &caller, &wanted).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/closures/{}", closure.id),
            value: closure.into(),
        })
    }

    /// Read a closure
    ///
    /// Shows how far it has got, and its exports and erasures.
    #[oai(
        path = "/closures/:closure_id",
        method = "get",
        operation_id = "getClosure"
    )]
    async fn get_closure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::get(&management, &caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }

    /// Cancel a closure
    ///
    /// Possible while its state is `grace`. Exactly the sites that it has disabled are open again, and its exports end. A
    /// closure that was cancelled before stays as it is.
    #[oai(
        path = "/closures/:closure_id/cancel",
        method = "post",
        operation_id = "cancelClosure"
    )]
    async fn cancel_closure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::cancel(&management, &caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }

    /// Continue a closure that failed
    ///
    /// It goes on where it was. A closure that has not failed stays as it is.
    #[oai(
        path = "/closures/:closure_id/resume",
        method = "post",
        operation_id = "resumeClosure"
    )]
    async fn resume_closure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The closure.
        closure_id: Path<ClosureId>,
    ) -> Result<Json<Closure>, Refusal> {
        let closure = closures::resume(&management, &caller, closure_id.0).await?;
        Ok(Json(closure.into()))
    }
}
