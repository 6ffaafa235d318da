//! Files of hashes that are read into a list: start, watch, see what was refused, cancel.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Accepted, Json},
};
use domain::{
    id::{HashImportId, HashListId},
    image_hash::HashAlgorithm,
};
use management::{Management, hash_lists::imports};
use poem::web::Data;
use poem_openapi::OpenApi;
use store::hash_list::import;
use uuid::Uuid;

use super::upload::HashFile;
use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(crate) use schemas::{HashImport, HashImportRefusal};

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
        management: Data<&Arc<Management>>,
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
        let imports = imports::list(&management, &caller, list, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The kind of hash in lines that do not name it. The default is `pdq`.
        algorithm: Query<HashAlgorithm>,
        request: HashFile,
    ) -> Result<Accepted<HashImport>, Refusal> {
        let algorithm = algorithm.0.unwrap_or(HashAlgorithm::Pdq);
        let (list, file) = (hash_list_id.0, &request.bytes);
        let import = imports::create(&management, &caller, list, algorithm, file).await?;
        Ok(Accepted {
            location: format!("{PREFIX}/hash-imports/{}", import.id),
            value: import.into(),
        })
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The import.
        hash_import_id: Path<HashImportId>,
    ) -> Result<Json<HashImport>, Refusal> {
        let import = imports::get(&management, &caller, hash_import_id.0).await?;
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
        management: Data<&Arc<Management>>,
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
        let refusals = imports::refusals(&management, &caller, import, after, limit).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The import.
        hash_import_id: Path<HashImportId>,
    ) -> Result<Json<HashImport>, Refusal> {
        let import = imports::cancel(&management, &caller, hash_import_id.0).await?;
        Ok(Json(import.into()))
    }
}
