//! Erasures: remove everything that is stored about some items, watch it, get the certificate.

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
use domain::id::ErasureId;
use management::{Management, erasures};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
use schemas::{Erasure, NewErasure, SigningKey};

pub(crate) struct Erasures;

#[OpenApi(tag = "Tag::Erasures")]
impl Erasures {
    /// List erasures
    ///
    /// Newest first. Erasures and their certificates are kept for 90 days after their end.
    #[oai(path = "/erasures", method = "get", operation_id = "listErasures")]
    async fn list_erasures(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Erasure>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = erasures::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(found, |erasure| erasure.id.as_uuid())))
    }

    /// Erase items
    ///
    /// Removes everything that is stored about some items, in the background: content, metadata, images and their hashes, what
    /// providers said, idempotency keys, notes, reasons that people wrote, events and deliveries, dead jobs. Waiting deliveries are not
    /// sent any more, and there is no event that tells of the erasure. What is left of an item is its id, its times and its verdict. An
    /// item without a verdict goes altogether. Entries of hash lists stay.
    ///
    /// The erasure is about items that were accepted before it, at most 5 minutes after it was asked for. It cannot be undone or
    /// stopped. Name the items by exactly one of `media_ids`, `app_media_ids`, `author`, `metadata` and `everything`. A team has
    /// at most 100 erasures that have not ended.
    #[oai(path = "/erasures", method = "post", operation_id = "createErasure")]
    async fn create_erasure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewErasure>,
    ) -> Result<Accepted<Erasure>, Refusal> {
        let wanted = request.value.read()?;
        let erasure = erasures::create(&management, &caller, &wanted).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/erasures/{}", erasure.id),
            value: erasure.into(),
        })
    }

    /// Read the key that checks certificates
    ///
    /// Keep it where you keep the certificates. It does not change.
    #[oai(
        path = "/erasures/signing-key",
        method = "get",
        operation_id = "getErasureSigningKey"
    )]
    async fn get_erasure_signing_key(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
    ) -> Result<Json<SigningKey>, Refusal> {
        let key = erasures::public_key(&management, &caller).await?;
        Ok(Json(key.into()))
    }

    /// Read an erasure
    ///
    /// Shows how far it has got, and its certificate when it has finished.
    #[oai(
        path = "/erasures/:erasure_id",
        method = "get",
        operation_id = "getErasure"
    )]
    async fn get_erasure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The erasure.
        erasure_id: Path<ErasureId>,
    ) -> Result<Json<Erasure>, Refusal> {
        let erasure = erasures::get(&management, &caller, erasure_id.0).await?;
        Ok(Json(erasure.into()))
    }

    /// Continue an erasure that failed
    ///
    /// It goes on where it was. An erasure that has not failed stays as it is.
    #[oai(
        path = "/erasures/:erasure_id/resume",
        method = "post",
        operation_id = "resumeErasure"
    )]
    async fn resume_erasure(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The erasure.
        erasure_id: Path<ErasureId>,
    ) -> Result<Json<Erasure>, Refusal> {
        let erasure = erasures::resume(&management, &caller, erasure_id.0).await?;
        Ok(Json(erasure.into()))
    }
}
