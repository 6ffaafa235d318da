//! Files of hashes that are read into a list: start, watch, see what was refused, cancel.

use api_common::{Accepted, Code, Field, Json, Path, Query, Refusal, Schema, Time, body::held};
use bytes::Bytes;
use domain::{
    chain::State,
    id::{ActorId, HashImportId, HashListId},
    image_hash::HashAlgorithm,
    scope::Scope,
};
use http_server::Share;
use management::hash_lists::imports;
use poem::{Request, RequestBody, Result};
use poem_openapi::{
    OpenApi, impl_apirequest_for_payload,
    payload::{ParsePayload, Payload},
    registry::{MetaSchema, MetaSchemaRef},
};
use serde::Serialize;
use serde_json::{Value, json};
use store::hash_list::import;
use uuid::Uuid;

use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Imports;

#[OpenApi(tag = "Tag::HashLists")]
impl Imports {
    /// List imports into a hash list
    ///
    /// Returns the latest imports first. They are kept for 90 days.
    #[oai(
        path = "/hash-lists/:hash_list_id/imports",
        method = "get",
        operation_id = "listHashImports"
    )]
    async fn list_hash_imports(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashImport>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let list = hash_list_id.0;
        let imports = imports::list(&caller, list, part.page()).await?;
        Ok(Json(part.list(imports, |import| import.id.as_uuid())))
    }

    /// Import a file of hashes
    ///
    /// Each line has one hash of 64 hexadecimal digits and, after a comma, an optional note. A line may name the kind of its
    /// hash: `pdq:...` or `sha256:...`. Empty lines and lines that begin with `#` are skipped. The file is stored and read in the
    /// background. Hashes that are on the list already are skipped. A line without a valid hash is refused; the other lines are
    /// still read. If your list is larger than a request body may be, send several files, up to 16 at a time.
    #[oai(
        path = "/hash-lists/:hash_list_id/imports",
        method = "post",
        operation_id = "createHashImport"
    )]
    async fn create_hash_import(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The kind of hash in lines that do not name it. The default is `pdq`.
        algorithm: Query<HashAlgorithm>,
        request: HashFile,
    ) -> Result<Accepted<HashImport>, Refusal> {
        let algorithm = algorithm.0.unwrap_or(HashAlgorithm::Pdq);
        let (list, file) = (hash_list_id.0, &request.bytes);
        let import = imports::create(&caller, list, algorithm, file).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/hash-imports/{}", import.id),
            import,
        ))
    }

    /// Read an import
    ///
    /// Shows its progress, and what it has done so far.
    #[oai(
        path = "/hash-imports/:hash_import_id",
        method = "get",
        operation_id = "getHashImport"
    )]
    async fn get_hash_import(
        &self,
        caller: Caller,
        /// The import.
        hash_import_id: Path<HashImportId>,
    ) -> Result<Json<HashImport>, Refusal> {
        let import = imports::get(&caller, hash_import_id.0).await?;
        Ok(Json(import.into()))
    }

    /// List the lines that an import refused
    ///
    /// Returns the first 1,000 refused lines, in the order of the file.
    #[oai(
        path = "/hash-imports/:hash_import_id/refusals",
        method = "get",
        operation_id = "listHashImportRefusals"
    )]
    async fn list_hash_import_refusals(
        &self,
        caller: Caller,
        /// The import.
        hash_import_id: Path<HashImportId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashImportRefusal>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        // In this list, the cursor contains the number of a line.
        let after = part.after().map_or(0, |place| place.as_u128());
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let (import, limit) = (hash_import_id.0, part.page().limit);
        let refusals = imports::refusals(&caller, import, after, limit).await?;
        let place = |refused: &import::Refused| {
            Uuid::from_u128(u128::try_from(refused.line).unwrap_or_default())
        };
        Ok(Json(part.list(refusals, place)))
    }

    /// Cancel an import
    ///
    /// What it has added stays on the list. An import that has ended stays as it is.
    #[oai(
        path = "/hash-imports/:hash_import_id/cancel",
        method = "post",
        operation_id = "cancelHashImport"
    )]
    async fn cancel_hash_import(
        &self,
        caller: Caller,
        /// The import.
        hash_import_id: Path<HashImportId>,
    ) -> Result<Json<HashImport>, Refusal> {
        let import = imports::cancel(&caller, hash_import_id.0).await?;
        Ok(Json(import.into()))
    }
}

/// A file of hashes that is read into a list.
#[derive(Serialize, Schema)]
pub(crate) struct HashImport {
    /// The ID of the import.
    id: Uuid,
    /// The hash list.
    hash_list_id: Uuid,
    /// The kind of hash in lines that do not name it.
    algorithm: Field<HashAlgorithm>,
    /// The state of the import.
    state: Field<State>,
    /// How many lines the file has.
    total_lines: i64,
    /// How many lines were read.
    lines: i64,
    /// The number of hashes that were added.
    added: i64,
    /// The number of hashes that were on the list already, or in an earlier line.
    existing: i64,
    /// The number of lines that were refused.
    refused: i64,
    /// Why it failed. `null` if it has not failed.
    #[schema(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<import::Import> for HashImport {
    fn from(import: import::Import) -> Self {
        Self {
            id: import.id.as_uuid(),
            hash_list_id: import.list.as_uuid(),
            algorithm: Field(import.algorithm),
            state: Field(import.state),
            total_lines: import.total_lines,
            lines: import.lines,
            added: import.added,
            existing: import.existing,
            refused: import.refused,
            error: import.error,
            created_by: import.created_by.map(ActorId::as_uuid),
            created_at: import.created_at.into(),
            ended_at: import.ended_at.map(Field::from),
        }
    }
}

/// A line of a file that was refused.
#[derive(Serialize, Schema)]
pub(crate) struct HashImportRefusal {
    /// The number of the line in the file, from 1.
    line: i64,
    /// What is wrong with the line.
    message: String,
}

impl From<import::Refused> for HashImportRefusal {
    fn from(refused: import::Refused) -> Self {
        Self {
            line: refused.line,
            message: refused.reason,
        }
    }
}

fn import_example() -> Value {
    json!({
        "id": example_values::HASH_IMPORT,
        "hash_list_id": example_values::HASH_LIST,
        "algorithm": "pdq",
        "state": "running",
        "total_lines": 100_000,
        "lines": 40_000,
        "added": 39_800,
        "existing": 150,
        "refused": 50,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let import = import_example();
    vec![
        Operation::new("listHashImports", Scope::HashListsRead)
            .problems(&[Code::SharedList])
            .answer(example_values::list(&import)),
        Operation::new("createHashImport", Scope::HashListsWrite)
            .problems(&[Code::SharedList, Code::LimitReached])
            .request(format!("{},Reported twice in January.\n", example_values::PDQ).into())
            .answer(import.clone()),
        Operation::new("getHashImport", Scope::HashListsRead).answer(import.clone()),
        Operation::new("listHashImportRefusals", Scope::HashListsRead).answer(
            example_values::list(&json!({
                "line": 17,
                "message": "does not begin with a hash of 64 hexadecimal digits",
            })),
        ),
        Operation::new("cancelHashImport", Scope::HashListsWrite).answer(import),
    ]
}

pub(super) const TEXT: &str = "text/plain";

/// The file. Its lines are checked later, when it is read in the background.
pub(crate) struct HashFile {
    pub(super) bytes: Bytes,
    /// Kept until the handler ends.
    _share: Share,
}

impl Payload for HashFile {
    const CONTENT_TYPE: &'static str = TEXT;

    /// Exchanges and spreadsheets also call it `text/csv`.
    fn check_content_type(content_type: &str) -> bool {
        let essence = content_type.split(';').next().unwrap_or_default();
        [TEXT, "text/csv"]
            .iter()
            .any(|text| essence.trim().eq_ignore_ascii_case(text))
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema::new("string")))
    }
}

impl ParsePayload for HashFile {
    const IS_REQUIRED: bool = true;

    async fn from_request(request: &Request, body: &mut RequestBody) -> Result<Self> {
        let held = held(request, body.take()?).await?;
        Ok(Self {
            bytes: held.bytes,
            _share: held.share,
        })
    }
}

impl_apirequest_for_payload!(HashFile);
