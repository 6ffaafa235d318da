//! Legal holds: list, create, read, lift.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json},
};
use domain::id::HoldId;
use management::{Management, legal_holds};
use poem::web::Data;
use poem_openapi::OpenApi;
use uuid::Uuid;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
use schemas::{LegalHold, NewLegalHold};

pub(crate) struct LegalHolds;

#[OpenApi(tag = "Tag::LegalHolds")]
impl LegalHolds {
    /// List legal holds
    ///
    /// Oldest first, with those that were lifted.
    #[oai(path = "/legal-holds", method = "get", operation_id = "listLegalHolds")]
    async fn list_legal_holds(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// Only holds of this site.
        site_id: Query<Uuid>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<LegalHold>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let site = site_id.0.map(Into::into);
        let holds = legal_holds::list(&management, &caller, site, part.page()).await?;
        Ok(Json(part.list(holds, |hold| hold.id.as_uuid())))
    }

    /// Create a legal hold
    ///
    /// From the answer on, and until the hold is lifted, no retention removes anything of what it names: all items of a site,
    /// one item, or the items of an author. That goes for whole items, for their content and for files of images. At most
    /// 1,000 holds of a team are in force.
    #[oai(
        path = "/legal-holds",
        method = "post",
        operation_id = "createLegalHold"
    )]
    async fn create_legal_hold(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewLegalHold>,
    ) -> Result<Created<LegalHold>, Refusal> {
        let hold = legal_holds::create(&management, &caller, request.value.into()).await?;
        Ok(Created {
            location: format!("{PREFIX}/legal-holds/{}", hold.id),
            value: hold.into(),
        })
    }

    /// Read a legal hold
    #[oai(
        path = "/legal-holds/:hold_id",
        method = "get",
        operation_id = "getLegalHold"
    )]
    async fn get_legal_hold(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hold.
        hold_id: Path<HoldId>,
    ) -> Result<Json<LegalHold>, Refusal> {
        let hold = legal_holds::get(&management, &caller, hold_id.0).await?;
        Ok(Json(hold.into()))
    }

    /// Lift a legal hold
    ///
    /// The retention of its site applies again. What is old enough by then is removed within about a day. A hold that was lifted
    /// before stays as it is.
    #[oai(
        path = "/legal-holds/:hold_id/lift",
        method = "post",
        operation_id = "liftLegalHold"
    )]
    async fn lift_legal_hold(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hold.
        hold_id: Path<HoldId>,
    ) -> Result<Json<LegalHold>, Refusal> {
        let hold = legal_holds::lift(&management, &caller, hold_id.0).await?;
        Ok(Json(hold.into()))
    }
}
