//! Site keys: list, create, rotate, read, disable.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::id::{SiteId, SiteKeyId};
use management::{
    Management,
    site_keys::{self, IssuedKey},
};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{IssuedSiteKey, SiteKey};

pub(crate) struct SiteKeys;

#[OpenApi(tag = "Tag::SiteKeys")]
impl SiteKeys {
    /// List a site's keys
    ///
    /// Oldest first, including disabled keys.
    #[oai(
        path = "/sites/:site_id/keys",
        method = "get",
        operation_id = "listSiteKeys"
    )]
    async fn list_site_keys(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<SiteKey>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let keys = site_keys::list(&management, &caller, site_id.0, part.page()).await?;
        Ok(Json(part.list(keys, |key| key.id.as_uuid())))
    }

    /// Create a key for a site
    ///
    /// The site's other keys keep working, so that your application can switch without a gap. The key is shown only in this
    /// answer.
    #[oai(
        path = "/sites/:site_id/keys",
        method = "post",
        operation_id = "createSiteKey"
    )]
    async fn create_site_key(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Created<IssuedSiteKey>, Refusal> {
        let issued = site_keys::create(&management, &caller, site_id.0).await?;
        Ok(created(issued))
    }

    /// Replace a site's keys
    ///
    /// All keys of the site stop working at once and a new one is created. The new key is shown only in this answer. Use
    /// this when a key may have leaked.
    #[oai(
        path = "/sites/:site_id/keys/rotate",
        method = "post",
        operation_id = "rotateSiteKeys"
    )]
    async fn rotate_site_keys(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Created<IssuedSiteKey>, Refusal> {
        let issued = site_keys::rotate(&management, &caller, site_id.0).await?;
        Ok(created(issued))
    }

    /// Read a site key
    #[oai(
        path = "/sites/:site_id/keys/:key_id",
        method = "get",
        operation_id = "getSiteKey"
    )]
    async fn get_site_key(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The key's id.
        key_id: Path<SiteKeyId>,
    ) -> Result<Json<SiteKey>, Refusal> {
        let key = site_keys::get(&management, &caller, site_id.0, key_id.0).await?;
        Ok(Json(key.into()))
    }

    /// Disable a site key
    ///
    /// The key stops working at once and cannot be enabled again. It stays in lists. Disabling it again changes nothing.
    #[oai(
        path = "/sites/:site_id/keys/:key_id",
        method = "delete",
        operation_id = "disableSiteKey"
    )]
    async fn disable_site_key(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The key's id.
        key_id: Path<SiteKeyId>,
    ) -> Result<NoContent, Refusal> {
        site_keys::disable(&management, &caller, site_id.0, key_id.0).await?;
        Ok(NoContent)
    }
}

fn created(issued: IssuedKey) -> Created<IssuedSiteKey> {
    let key = &issued.key;
    Created {
        location: format!("{PREFIX}/sites/{}/keys/{}", key.site, key.id),
        value: issued.into(),
    }
}
