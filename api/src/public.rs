//! The public interface: what applications call with their site key.

mod details;
pub(crate) mod document;
mod events;
pub(crate) mod examples;
mod status;
mod submit;

use std::sync::Arc;

use domain::submission::SubmissionLimits;
use poem::{Result, web::Data};
use poem_openapi::{OpenApi, OpenApiService, Tags};
use store::{accept::Acceptor, rate::Rates, site::Sites, status::Statuses};
use uuid::Uuid;

use crate::{
    answer::Json,
    caller::Bearer,
    idempotency::IdempotencyHeader,
    limited::Limited,
    payload::{JsonBody, OptionalJsonBody},
    query::QueryField,
    text::Text,
};

pub(crate) use details::ModerationDetails;
pub(crate) use events::{Events, Pings};

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
    /// The bounds of a submission's members.
    pub limits: SubmissionLimits,
}

/// The path under which the operations stand: the version is part of it.
pub(crate) const PREFIX: &str = "/functions/v1";

pub(crate) fn service() -> OpenApiService<PublicApi, Events> {
    OpenApiService::new(PublicApi, "Gatehouse", "1.0.0")
        .server(PREFIX)
        .webhooks::<Events>()
}

#[derive(Tags)]
enum Tag {
    /// Content that applications submit, and what became of it.
    Media,
}

/// The operations; what they work with comes with each request.
pub(crate) struct PublicApi;

#[OpenApi(tag = "Tag::Media")]
impl PublicApi {
    /// Submit content for moderation
    ///
    /// Takes text, an image (by URL, or inline as base64), or text and an image. The answer comes as soon as the
    /// submission is stored durably; moderation follows. Learn the outcome from the `media.moderated` event or from
    /// `get-media-status`.
    #[oai(path = "/submit-media", method = "post", operation_id = "submitMedia")]
    async fn submit_media(
        &self,
        public: Data<&Arc<Public>>,
        bearer: Bearer,
        /// Makes repeating the request safe: for 24 hours the same request under the same key is answered as the first
        /// was and stores nothing new; another request under it is refused. 1 to 255 visible ASCII characters, one of
        /// your site's own for each item, a UUID for instance.
        #[oai(name = "Idempotency-Key")]
        idempotency_key: IdempotencyHeader,
        request: JsonBody<submit::SubmitRequest>,
    ) -> Result<Limited<Json<submit::Accepted>>> {
        Ok(submit::submit(&public, bearer, &idempotency_key, &request.value).await?)
    }

    /// Ask where a media item stands
    ///
    /// Ask again while it is `pending`; a webhook tells without asking.
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
    ) -> Result<Limited<Json<status::MediaStatus>>> {
        Ok(status::status(&public, bearer, &request.value).await?)
    }

    /// Ask where a media item stands, with query parameters
    ///
    /// Answers exactly as the POST does, which is to be preferred: URLs with a key in them end up in the logs of
    /// proxies and clients.
    #[oai(
        path = "/get-media-status",
        method = "get",
        operation_id = "getMediaStatusByQuery"
    )]
    async fn get_media_status_by_query(
        &self,
        public: Data<&Arc<Public>>,
        bearer: Bearer,
        /// The site key. Discouraged here: send it in the body of a POST.
        #[oai(deprecated)]
        api_key: QueryField<String>,
        /// The item's id.
        media_id: QueryField<Uuid>,
        body: OptionalJsonBody<status::StatusRequest>,
    ) -> Result<Limited<Json<status::MediaStatus>>> {
        let query = status::StatusRequest {
            api_key: api_key.text.map(Text::from),
            media_id: media_id.text.map(Text::from),
        };
        let request = query.merged_with(body.0)?;
        Ok(status::status(&public, bearer, &request).await?)
    }
}
