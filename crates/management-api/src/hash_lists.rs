//! Hash lists: list, create, read, change, delete. Everything else about them is in a module of its own.

mod entries;
mod image;
mod imports;
mod openapi;
mod scans;
mod schemas;
mod upload;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::id::HashListId;
use management::{Management, hash_lists};
use poem::web::Data;
use poem_openapi::OpenApi;

use super::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::descriptions;
pub(super) use schemas::{HashList, HashListChange, NewHashList};

/// The operations, noun by noun.
pub(super) type Nouns = (
    HashLists,
    entries::Entries,
    image::Images,
    imports::Imports,
    scans::Scans,
);

pub(super) fn nouns() -> Nouns {
    (
        HashLists,
        entries::Entries,
        image::Images,
        imports::Imports,
        scans::Scans,
    )
}

pub(crate) struct HashLists;

#[OpenApi(tag = "Tag::HashLists")]
impl HashLists {
    /// List hash lists
    ///
    /// Returns the oldest lists first. A team's token sees the lists of its team and the shared lists.
    #[oai(path = "/hash-lists", method = "get", operation_id = "listHashLists")]
    async fn list_hash_lists(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashList>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let lists = hash_lists::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(lists, |list| list.id.as_uuid())))
    }

    /// Create a hash list
    ///
    /// The list is empty, and has no effect until a rule of the type `image_hash` names it. A team can have as many lists as its
    /// plan allows: 100, unless the plan says otherwise.
    #[oai(path = "/hash-lists", method = "post", operation_id = "createHashList")]
    async fn create_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewHashList>,
    ) -> Result<Created<HashList>, Refusal> {
        let list = hash_lists::create(&management, &caller, request.value.into()).await?;
        Ok(Created {
            location: format!("{PREFIX}/hash-lists/{}", list.id),
            value: list.into(),
        })
    }

    /// Read a hash list
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "get",
        operation_id = "getHashList"
    )]
    async fn get_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
    ) -> Result<Json<HashList>, Refusal> {
        let list = hash_lists::get(&management, &caller, hash_list_id.0).await?;
        Ok(Json(list.into()))
    }

    /// Change a hash list
    ///
    /// What matched before stays matched.
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "patch",
        operation_id = "updateHashList"
    )]
    async fn update_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<HashListChange>,
    ) -> Result<Json<HashList>, Refusal> {
        let (list, change) = (hash_list_id.0, request.value.into());
        let list = hash_lists::update(&management, &caller, list, change).await?;
        Ok(Json(list.into()))
    }

    /// Delete a hash list
    ///
    /// After that, nothing is compared with the list, and its name is free. You cannot delete a list that a rule of a live
    /// version, a shadow or a draft names. Earlier versions of rule groups may still name it; they cannot become live any more.
    /// Imports and scans of the list stop. What it has matched is kept and still counts when items are judged.
    #[oai(
        path = "/hash-lists/:hash_list_id",
        method = "delete",
        operation_id = "deleteHashList"
    )]
    async fn delete_hash_list(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
    ) -> Result<NoContent, Refusal> {
        hash_lists::delete(&management, &caller, hash_list_id.0).await?;
        Ok(NoContent)
    }
}
