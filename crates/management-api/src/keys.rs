//! Site keys: list, create, rotate, read, disable.

use api_common::{Code, Created, Field, Json, NoContent, Path, Query, Refusal, Schema, Time};
use domain::{
    id::{SiteId, SiteKeyId},
    scope::Scope,
};
use management::site_keys::{self, IssuedKey};
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::site::keys::KeyRecord;
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<SiteKey>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let keys = site_keys::list(&caller, site_id.0, part.page()).await?;
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Created<IssuedSiteKey>, Refusal> {
        let issued = site_keys::create(&caller, site_id.0).await?;
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Created<IssuedSiteKey>, Refusal> {
        let issued = site_keys::rotate(&caller, site_id.0).await?;
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The key's id.
        key_id: Path<SiteKeyId>,
    ) -> Result<Json<SiteKey>, Refusal> {
        let key = site_keys::get(&caller, site_id.0, key_id.0).await?;
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        /// The key's id.
        key_id: Path<SiteKeyId>,
    ) -> Result<NoContent, Refusal> {
        site_keys::disable(&caller, site_id.0, key_id.0).await?;
        Ok(NoContent)
    }
}

fn created(issued: IssuedKey) -> Created<IssuedSiteKey> {
    let key = &issued.key;
    let location = format!("{PREFIX}/sites/{}/keys/{}", key.site, key.id);
    Created::at(location, issued)
}

/// A site key without its secret.
#[derive(Serialize, Schema)]
pub(crate) struct SiteKey {
    /// The key's id.
    id: Uuid,
    /// The site that it submits for.
    site_id: Uuid,
    /// Its last four characters.
    hint: String,
    /// When it was created.
    created_at: Field<Time>,
    /// When it was disabled. `null` if it works.
    #[schema(nullable)]
    disabled_at: Option<Field<Time>>,
}

impl From<KeyRecord> for SiteKey {
    fn from(record: KeyRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            site_id: record.site.as_uuid(),
            hint: record.hint,
            created_at: record.created_at.into(),
            disabled_at: record.disabled_at.map(Field::from),
        }
    }
}

/// A new site key with its secret.
#[derive(Serialize, Schema)]
pub(crate) struct IssuedSiteKey {
    /// The key itself. Keep it in your application's back end. It is shown only here.
    secret: String,
    /// The key as later requests show it.
    #[serde(flatten)]
    key: SiteKey,
}

impl From<IssuedKey> for IssuedSiteKey {
    fn from(issued: IssuedKey) -> Self {
        Self {
            secret: issued.secret.expose().to_owned(),
            key: issued.key.into(),
        }
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let key = json!({
        "id": "01980f6d-09aa-7bbb-8ccc-0123456789ab",
        "site_id": example_values::SITE,
        "hint": "w3Zk",
        "created_at": example_values::CREATED_AT,
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "site_EXAMPLEexampleEXAMPLEexamplew3Zk" });
    api_common::openapi::extend(&mut issued, "", key.clone());
    vec![
        Operation::new("listSiteKeys", Scope::KeysRead).answer(example_values::list(&key)),
        Operation::new("createSiteKey", Scope::KeysWrite)
            .problems(&[Code::LimitReached])
            .answer(issued.clone()),
        Operation::new("rotateSiteKeys", Scope::KeysWrite)
            .problems(&[Code::LimitReached])
            .answer(issued),
        Operation::new("getSiteKey", Scope::KeysRead).answer(key),
        Operation::new("disableSiteKey", Scope::KeysWrite),
    ]
}
