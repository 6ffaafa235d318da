//! Site keys in requests and responses.

use api_common::field::{Field, Time};
use management::site_keys::IssuedKey;
use poem_openapi::Object;
use serde::Serialize;
use store::site::keys::KeyRecord;
use uuid::Uuid;

/// A site key without its secret.
#[derive(Serialize, Object)]
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
    #[oai(nullable)]
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
#[derive(Serialize, Object)]
pub(crate) struct IssuedSiteKey {
    /// The key itself. Keep it in your application's back end. It is shown only here.
    secret: String,
    /// The key as later requests show it.
    #[serde(flatten)]
    #[oai(flatten)]
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
