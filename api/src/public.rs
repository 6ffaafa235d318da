//! The public interface: what applications call with their site key.

pub(crate) mod openapi;
mod status;
mod submit;

use std::sync::Arc;

use api_common::{
    IdempotencyHeader, Json, JsonBody, Operations, OptionalJsonBody, QueryField, RateLimited,
    openapi::written, public_schemas::Events, text_decoding::Text,
};
use domain::submission::SubmissionLimits;
use http_server::BodyReader;
use poem::{Result, web::Data};
use poem_openapi::{OpenApi, OpenApiService, Tags};
use store::{
    accept::Acceptor, item_status::Statuses, rate_limit::Rates, site::Sites,
    verdict_waiters::VerdictWaiters,
};
use uuid::Uuid;

use crate::{
    caller::Bearer,
    prefer_header::{Prefer, Preferred},
};

pub(crate) use submit::{Asked, Keep, SubmitRequest, Verdict, accept};

/// What the public interface works with.
pub struct Public {
    /// Counts requests against the limits of their keys.
    pub rates: Rates,
    /// Finds sites by key.
    pub sites: Sites,
    /// Stores submissions.
    pub acceptor: Acceptor,
    /// Answers status queries.
    pub statuses: Statuses,
    /// Requests that wait for verdicts.
    pub awaited: VerdictWaiters,
    /// The bounds of a submission's members.
    pub limits: SubmissionLimits,
}

/// The path of all operations. It contains the version.
pub(crate) const PREFIX: &str = "/functions/v1";

/// The operations, which work with `public` and read bodies with `reader`.
pub(crate) fn operations(public: Arc<Public>, reader: BodyReader) -> Operations {
    Operations::new(PREFIX, service, document, public, reader)
}

/// The OpenAPI document: pretty JSON with a newline at the end.
pub(crate) fn document() -> String {
    written(&service(), openapi::finish)
}

pub(crate) fn service() -> OpenApiService<PublicApi, Events> {
    OpenApiService::new(PublicApi, "Gatehouse", "1.0.0")
        .server(PREFIX)
        .webhooks::<Events>()
}

#[derive(Tags)]
enum Tag {
    /// Submitted content and its moderation status.
    Media,
}

/// The operations. Their state comes with each request.
pub(crate) struct PublicApi;

#[OpenApi(tag = "Tag::Media")]
impl PublicApi {
    /// Submit content for moderation
    ///
    /// Send a text, an image (by URL, or inline as base64), or both. You get an answer as soon as the submission is
    /// stored durably. Moderation happens afterwards: you get the result with the event `media.moderated`, or from
    /// `get-media-status`.
    #[oai(path = "/submit-media", method = "post", operation_id = "submitMedia")]
    async fn submit_media(
        &self,
        public: Data<&Arc<Public>>,
        bearer: Bearer,
        /// Makes it safe to repeat the request. For 24 hours, the same request with the same key gets the first
        /// answer again and stores nothing new. A different request with the same key is refused. Use a new key for
        /// each item, for example a UUID: 1 to 255 visible ASCII characters, unique in your site.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyHeader,
        /// `wait=5` lets the answer wait up to 5 seconds for the verdict, and `wait=10` is the longest. If the item is
        /// moderated in time, the answer has its status, `action` and `moderationResult`. Otherwise the status is
        /// `pending`, as without this header. The answer's header `Preference-Applied` says that it was ready to
        /// wait. It is missing if too many requests wait already. The item is stored in any case.
        #[oai(name = "Prefer")]
        prefer: Prefer,
        request: JsonBody<submit::SubmitRequest>,
    ) -> Result<RateLimited<Preferred<Json<submit::Accepted>>>> {
        Ok(submit::submit(&public, bearer, &idempotency_key, prefer, request).await?)
    }

    /// Get a media item's status
    ///
    /// Ask again while the status is `pending`. With webhooks you do not need to ask.
    #[oai(
        path = "/get-media-status",
        method = "post",
        operation_id = "getMediaStatus"
    )]
    async fn get_media_status(
        &self,
        public: Data<&Arc<Public>>,
        bearer: Bearer,
        request: JsonBody<status::StatusRequest>,
    ) -> Result<RateLimited<Json<status::MediaStatus>>> {
        Ok(status::status(&public, bearer, &request.value).await?)
    }

    /// Get a media item's status, with query parameters
    ///
    /// Gives the same answer as the POST. Prefer the POST: a URL with a key in it ends up in the logs of proxies
    /// and clients.
    #[oai(
        path = "/get-media-status",
        method = "get",
        operation_id = "getMediaStatusByQuery"
    )]
    async fn get_media_status_by_query(
        &self,
        public: Data<&Arc<Public>>,
        bearer: Bearer,
        /// The site key. It is safer to send it in the body of a POST.
        #[oai(deprecated)]
        api_key: QueryField<String>,
        /// The item's id.
        media_id: QueryField<Uuid>,
        body: OptionalJsonBody<status::StatusRequest>,
    ) -> Result<RateLimited<Json<status::MediaStatus>>> {
        let query = status::StatusRequest {
            api_key: api_key.text.map(Text::from),
            media_id: media_id.text.map(Text::from),
        };
        let request = query.merged_with(body.0)?;
        Ok(status::status(&public, bearer, &request).await?)
    }
}
