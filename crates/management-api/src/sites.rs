//! Sites: list, create, read, change.

mod openapi;
mod schemas;
mod settings;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json},
};
use domain::id::SiteId;
use management::{Management, sites};
use poem::web::Data;
use poem_openapi::OpenApi;

use self::settings::{NewSite, SiteChange};
use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{IssuedSite, Site};

pub(crate) struct Sites;

#[OpenApi(tag = "Tag::Sites")]
impl Sites {
    /// List sites
    ///
    /// Returns the oldest sites first. A team's token sees the sites of its team.
    #[oai(path = "/sites", method = "get", operation_id = "listSites")]
    async fn list_sites(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Site>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let sites = sites::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(sites, |site| site.id.as_uuid())))
    }

    /// Create a site
    ///
    /// The site's webhook secret is shown only in this answer. The site has no key yet: create one
    /// with `createSiteKey`.
    #[oai(path = "/sites", method = "post", operation_id = "createSite")]
    async fn create_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewSite>,
    ) -> Result<Created<IssuedSite>, Refusal> {
        let (team, settings) = request.value.parts();
        let issued = sites::create(&management, &caller, team, &settings).await?;
        Ok(Created {
            location: format!("{PREFIX}/sites/{}", issued.site.id),
            value: issued.into(),
        })
    }

    /// Read a site
    #[oai(path = "/sites/:site_id", method = "get", operation_id = "getSite")]
    async fn get_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The ID of the site.
        site_id: Path<SiteId>,
    ) -> Result<Json<Site>, Refusal> {
        let site = sites::get(&management, &caller, site_id.0).await?;
        Ok(Json(site.into()))
    }

    /// Change a site
    ///
    /// The change applies to every submission that is answered after this request. A changed limit
    /// takes effect in the next minute at the latest.
    #[oai(
        path = "/sites/:site_id",
        method = "patch",
        operation_id = "updateSite"
    )]
    async fn update_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The ID of the site.
        site_id: Path<SiteId>,
        request: JsonBody<SiteChange>,
    ) -> Result<Json<Site>, Refusal> {
        let edit = |settings| request.value.applied_to(settings);
        let site = sites::update(&management, &caller, site_id.0, edit).await?;
        Ok(Json(site.into()))
    }
}
