//! Add an item's image to a hash list, by the hashes that are stored with the item.

use api_common::{Code, Created, Field, JsonBody, Path, Refusal, Schema};
use domain::{
    id::{HashListId, MediaId},
    reason::Reason,
    scope::Scope,
};
use management::hash_lists::entries;
use poem_openapi::OpenApi;
use serde::Deserialize;
use serde_json::json;

use super::entries::{HashEntry, created, entry_example};
use crate::{Caller, Operation, Tag, example_values};

/// An item whose image will be added to a list.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewListedImage {
    /// The media item. It must belong to the list's team. For a shared list, it may belong to any team.
    media_id: Field<MediaId>,
    /// A note about the entry.
    #[schema(nullable)]
    note: Option<Field<Reason>>,
}

#[derive(Default)]
pub(crate) struct Images;

#[OpenApi(tag = "Tag::HashLists")]
impl Images {
    /// Add an item's image to a hash list
    ///
    /// Uses the hashes that were computed when the item was submitted, so the image itself need not be stored any more. The next
    /// copy that is submitted counts as on the list. The token also needs the scope `media:read`.
    #[oai(
        path = "/hash-lists/:hash_list_id/images",
        method = "post",
        operation_id = "addImageToHashList"
    )]
    async fn add_image_to_hash_list(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewListedImage>,
    ) -> Result<Created<HashEntry>, Refusal> {
        let (list, new) = (hash_list_id.0, request.value);
        let (media, note) = (new.media_id.0, new.note.map(|note| note.0));
        let entry = entries::add_image(&caller, list, media, note).await?;
        Ok(created(list, entry))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let mut entry = entry_example();
    entry["media_id"] = example_values::MEDIA.into();
    vec![
        Operation::new("addImageToHashList", Scope::HashListsWrite)
            .problems(&[
                Code::SharedList,
                Code::AlreadyListed,
                Code::ImageNotHashed,
                Code::LimitReached,
            ])
            .request(
                json!({ "media_id": example_values::MEDIA, "note": "Rejected on appeal, too." }),
            )
            .answer(entry),
    ]
}
