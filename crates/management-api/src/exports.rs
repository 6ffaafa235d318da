//! Exports of a site's data: list, create, read, and the archive.

mod archive;
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
use domain::id::ExportId;
use management::{Management, exports};
use poem::web::Data;
use poem_openapi::OpenApi;

use self::archive::{After as AfterMember, Archive};
use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{Export, NewExport};

pub(crate) struct Exports;

#[OpenApi(tag = "Tag::Exports")]
impl Exports {
    /// List exports
    ///
    /// Newest first. Exports that have expired are not listed.
    #[oai(path = "/exports", method = "get", operation_id = "listExports")]
    async fn list_exports(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Export>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = exports::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(found, |export| export.id.as_uuid())))
    }

    /// Create an export
    ///
    /// Fixes which items belong to it: those that the site has now. Nothing is copied. Read the archive within 7 days. A team can
    /// have 10 exports at a time.
    #[oai(path = "/exports", method = "post", operation_id = "createExport")]
    async fn create_export(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewExport>,
    ) -> Result<Created<Export>, Refusal> {
        let export = exports::create(&management, &caller, request.value.site_id.0).await?;
        Ok(Created {
            location: format!("{PREFIX}/exports/{}", export.id),
            value: export.into(),
        })
    }

    /// Read an export
    #[oai(
        path = "/exports/:export_id",
        method = "get",
        operation_id = "getExport"
    )]
    async fn get_export(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The export.
        export_id: Path<ExportId>,
    ) -> Result<Json<Export>, Refusal> {
        let export = exports::get(&management, &caller, export_id.0).await?;
        Ok(Json(export.into()))
    }

    /// Download the archive of an export
    ///
    /// Returns a tar file. It is built while you read it, one member at a time. After 10 minutes, an answer ends
    /// with the next whole member: the archive is complete when it has the member `end.json`. Until then, or when the connection
    /// broke, cut your file after its last whole member, and go on with `after`. `gatehouse export` does this for you. A team
    /// reads one archive at a time.
    #[oai(
        path = "/exports/:export_id/archive",
        method = "get",
        operation_id = "getExportArchive"
    )]
    async fn get_export_archive(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The export.
        export_id: Path<ExportId>,
        /// Where to go on: the `comment` in the pax header before the last whole member that you have. If omitted, the answer begins
        /// with the first member.
        after: Query<AfterMember>,
    ) -> Result<Archive, Refusal> {
        let after = after.0.map(|after| after.0);
        let reading = exports::open(&management, &caller, export_id.0, after).await?;
        Archive::begin(Arc::clone(management.0), caller.into_inner(), reading).await
    }
}
