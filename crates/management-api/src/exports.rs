//! Exports of a site's data: list, create, read, and the archive.

use std::io;

use api_common::{
    Code, Created, Described, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time,
};
use bytes::Bytes;
use domain::{
    id::{ActorId, ExportId, SiteId},
    scope::Scope,
};
use futures::{Stream, stream};
use management::{
    Refused,
    exports::{
        self, Reading,
        archive::{Cursor, NoCursor},
    },
};
use poem::{Body, IntoResponse, Response};
use poem_openapi::{
    ApiResponse, OpenApi,
    registry::{MetaResponses, MetaSchema, Registry},
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing::warn;
use uuid::Uuid;

use super::{
    After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values,
    saved_file::{binary, described, saved_file},
};

#[derive(Default)]
pub(crate) struct Exports;

#[OpenApi(tag = "Tag::Exports")]
impl Exports {
    /// List exports
    ///
    /// Newest first. Exports that have expired are not listed.
    #[oai(path = "/exports", method = "get", operation_id = "listExports")]
    async fn list_exports(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Export>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = exports::list(&caller, part.page()).await?;
        Ok(Json(part.list(found, |export| export.id.as_uuid())))
    }

    /// Create an export
    ///
    /// Fixes which items belong to it: those that the site has now. Nothing is copied. Read the archive within 7 days. A team can
    /// have 10 exports at a time.
    #[oai(path = "/exports", method = "post", operation_id = "createExport")]
    async fn create_export(
        &self,
        caller: Caller,
        request: JsonBody<NewExport>,
    ) -> Result<Created<Export>, Refusal> {
        let export = exports::create(&caller, request.value.site_id.0).await?;
        Ok(Created::at(
            format!("{PREFIX}/exports/{}", export.id),
            export,
        ))
    }

    /// Read an export
    #[oai(
        path = "/exports/:export_id",
        method = "get",
        operation_id = "getExport"
    )]
    async fn get_export(
        &self,
        caller: Caller,
        /// The export.
        export_id: Path<ExportId>,
    ) -> Result<Json<Export>, Refusal> {
        let export = exports::get(&caller, export_id.0).await?;
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
        caller: Caller,
        /// The export.
        export_id: Path<ExportId>,
        /// Where to go on: the `comment` in the pax header before the last whole member that you have. If omitted, the answer begins
        /// with the first member.
        after: Query<AfterMember>,
    ) -> Result<Archive, Refusal> {
        let after = after.0.map(|after| after.0);
        let reading = exports::open(&caller, export_id.0, after).await?;
        Archive::begin(caller, reading).await
    }
}

/// An archive of a site's data that can be downloaded.
#[derive(Serialize, Schema)]
pub(crate) struct Export {
    /// The export.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site whose data it contains.
    site_id: Uuid,
    /// The token or person that created it. `null` for the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
    /// The boundary: items with smaller IDs are in it.
    upto: Uuid,
    /// It can be downloaded until then.
    expires_at: Field<Time>,
}

impl From<exports::Export> for Export {
    fn from(export: exports::Export) -> Self {
        Self {
            id: export.id.as_uuid(),
            team_id: export.team.as_uuid(),
            site_id: export.site.as_uuid(),
            created_by: export.created_by.map(ActorId::as_uuid),
            created_at: export.created_at.into(),
            upto: export.upto,
            expires_at: export.expires_at.into(),
        }
    }
}

/// An export to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewExport {
    /// The site.
    site_id: Field<SiteId>,
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let export = json!({
        "id": example_values::EXPORT,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "upto": "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f",
        "expires_at": "2026-02-07T12:00:00.123456Z",
    });
    vec![
        Operation::new("listExports", Scope::SitesExport).answer(example_values::list(&export)),
        Operation::new("createExport", Scope::SitesExport)
            .problems(&[Code::LimitReached])
            .request(json!({ "site_id": example_values::SITE }))
            .answer(export.clone()),
        Operation::new("getExport", Scope::SitesExport).answer(export),
        Operation::new("getExportArchive", Scope::SitesExport)
            .problems(&[Code::TooManyDownloads, Code::Closing]),
    ]
}

const TAR: &str = "application/x-tar";

/// Bytes that are given to the connection at once. The client has the time limit of an answer for each.
const SLICE: usize = 64 << 10;

/// A place in an archive, as a query parameter.
pub(crate) struct AfterMember(Cursor);

impl std::str::FromStr for AfterMember {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        text.parse().map(Self)
    }
}

impl Described for AfterMember {
    fn expected() -> String {
        "the comment of a member of this archive".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new("string")
    }
}

/// The answer. Its first member is there already, so that what goes wrong at the beginning is answered as a problem.
pub(crate) struct Archive {
    first: Option<Bytes>,
    source: Source,
}

/// What further members come from.
struct Source {
    caller: Caller,
    reading: Reading,
}

impl Archive {
    async fn begin(caller: Caller, reading: Reading) -> Result<Self, Refusal> {
        let mut source = Source { caller, reading };
        let first = source.next().await?;
        Ok(Self { first, source })
    }
}

impl Source {
    async fn next(&mut self) -> Result<Option<Bytes>, Refused> {
        let next = self.reading.next(&self.caller).await?;
        Ok(next.map(Bytes::from))
    }
}

impl IntoResponse for Archive {
    fn into_response(self) -> Response {
        let name = self.source.reading.export().id;
        saved_file(
            TAR,
            &format!("{name}.tar"),
            Body::from_bytes_stream(slices(self)),
        )
    }
}

/// The members, in slices. If something fails, the stream ends early and the connection breaks.
fn slices(archive: Archive) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let Archive { first, source } = archive;
    stream::try_unfold((first, source), |(member, mut source)| async move {
        if source.reading.is_overdue() {
            return Err(io::Error::other("the archive is read too slowly"));
        }
        let member = match member {
            Some(member) => Some(member),
            None => source.next().await.map_err(|refused| {
                let export = source.reading.export().id;
                warn!(error = %refused, export.id = %export, "an archive could not be read on");
                io::Error::other("the archive could not be read on")
            })?,
        };
        let Some(mut rest) = member else {
            return Ok(None);
        };
        let slice = rest.split_to(SLICE.min(rest.len()));
        let rest = Some(rest).filter(|rest| !rest.is_empty());
        Ok(Some((slice, (rest, source))))
    })
}

impl ApiResponse for Archive {
    fn meta() -> MetaResponses {
        let description = "The archive, or its rest: a tar file of whole members.";
        described(description, &[TAR], &binary())
    }

    fn register(_registry: &mut Registry) {}
}
