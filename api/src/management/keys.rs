//! Site keys: list, create, rotate, read, disable.

use std::sync::Arc;

use ::management::sites;
use domain::{
    audit::Action,
    id::{SiteId, SiteKeyId, TeamId},
    key::SiteKey as Secret,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use store::{
    PgConnection,
    site_key::{self, KeyRecord},
    tenant,
};
use uuid::Uuid;

use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    session::{Caller, Change, Session, created},
};
use crate::{
    answer::{Created, Json, NoContent},
    member::{Member, Time},
    path::Path,
    problem::{Code, Refusal},
    query::Query,
};

/// A site key, without the key itself.
#[derive(Serialize, Object)]
pub(super) struct SiteKey {
    /// The key.
    id: Uuid,
    /// The site that it submits for.
    site_id: Uuid,
    /// Its last four characters.
    hint: String,
    /// When it was created.
    created_at: Member<Time>,
    /// When it was disabled; null if it was not.
    #[oai(nullable)]
    disabled_at: Option<Member<Time>>,
}

impl From<KeyRecord> for SiteKey {
    fn from(record: KeyRecord) -> Self {
        Self {
            id: record.id.as_uuid(),
            site_id: record.site.as_uuid(),
            hint: record.hint,
            created_at: record.created_at.into(),
            disabled_at: record.disabled_at.map(Member::from),
        }
    }
}

/// A new site key, with the key itself.
#[derive(Serialize, Object)]
pub(super) struct IssuedSiteKey {
    /// The key itself, which belongs in the application's back end. It is shown here and never again.
    secret: String,
    /// What is known of it from now on.
    #[serde(flatten)]
    #[oai(flatten)]
    key: SiteKey,
}

pub(crate) struct SiteKeys;

#[OpenApi(tag = "Tag::SiteKeys")]
impl SiteKeys {
    /// List a site's keys
    ///
    /// The oldest first, disabled ones included.
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
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<SiteKey>>, Refusal> {
        let mut session = management.read(&caller, Scope::KeysRead).await?;
        sites::require(&mut session, site_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let keys = site_key::list(session.conn(), site_id.0, part.page()).await?;
        Ok(Json(part.list(keys, |key| key.id.as_uuid())))
    }

    /// Create a key for a site
    ///
    /// The other keys go on working, so that an application can change over without a gap. The key is shown once.
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
        let mut session = management.change(&caller, Scope::KeysWrite).await?;
        let team = sites::require(&mut session, site_id.0).await?;
        let (id, secret) = tenant::create_site_key(session.conn(), site_id.0).await?;
        let key = find(session.conn(), site_id.0, id).await?;
        issue(session, Action::KeyCreate, team, key, &secret).await
    }

    /// Replace a site's keys
    ///
    /// All its keys stop working at once, and there is a new one, which is shown once. This is what to do when a key may
    /// have become known.
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
        let mut session = management.change(&caller, Scope::KeysWrite).await?;
        let team = sites::require(&mut session, site_id.0).await?;
        let (id, secret) = tenant::rotate_site_key(session.conn(), site_id.0).await?;
        let key = find(session.conn(), site_id.0, id).await?;
        issue(session, Action::KeyRotate, team, key, &secret).await
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
        /// The key.
        key_id: Path<SiteKeyId>,
    ) -> Result<Json<SiteKey>, Refusal> {
        let mut session = management.read(&caller, Scope::KeysRead).await?;
        sites::require(&mut session, site_id.0).await?;
        let key = find(session.conn(), site_id.0, key_id.0).await?;
        Ok(Json(key))
    }

    /// Disable a site key
    ///
    /// At once and for ever. A disabled key stays in lists; disabling it again changes nothing.
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
        /// The key.
        key_id: Path<SiteKeyId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::KeysWrite).await?;
        let team = sites::require(&mut session, site_id.0).await?;
        let key = find(session.conn(), site_id.0, key_id.0).await?;
        if site_key::disable(session.conn(), key_id.0).await? {
            session
                .commit(Change {
                    action: Action::KeyDisable,
                    team: Some(team),
                    target: key.id,
                    details: json!({ "site_id": key.site_id, "hint": key.hint }),
                })
                .await?;
        }
        Ok(NoContent)
    }
}

async fn find(conn: &mut PgConnection, site: SiteId, key: SiteKeyId) -> Result<SiteKey, Refusal> {
    let record = site_key::find(conn, site, key).await?;
    Ok(record.ok_or_else(|| Refusal::not_found("site key"))?.into())
}

/// Commits a new key and shows it.
async fn issue(
    session: Session,
    action: Action,
    team: TeamId,
    key: SiteKey,
    secret: &Secret,
) -> Result<Created<IssuedSiteKey>, Refusal> {
    session
        .commit(Change {
            action,
            team: Some(team),
            target: key.id,
            details: created(&key),
        })
        .await?;
    Ok(Created {
        location: format!("{PREFIX}/sites/{}/keys/{}", key.site_id, key.id),
        value: IssuedSiteKey {
            secret: secret.expose().to_owned(),
            key,
        },
    })
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let key = json!({
        "id": "01980f6d-09aa-7bbb-8ccc-0123456789ab",
        "site_id": example::SITE,
        "hint": "w3Zk",
        "created_at": example::CREATED_AT,
        "disabled_at": null,
    });
    let mut issued = json!({ "secret": "site_EXAMPLEexampleEXAMPLEexamplew3Zk" });
    crate::openapi::extend(&mut issued, "", key.clone());
    vec![
        Operation {
            answer: Some(example::list(&key)),
            ..Operation::new("listSiteKeys", Scope::KeysRead)
        },
        Operation {
            problems: &[Code::LimitReached],
            answer: Some(issued.clone()),
            ..Operation::new("createSiteKey", Scope::KeysWrite)
        },
        Operation {
            problems: &[Code::LimitReached],
            answer: Some(issued),
            ..Operation::new("rotateSiteKeys", Scope::KeysWrite)
        },
        Operation {
            answer: Some(key),
            ..Operation::new("getSiteKey", Scope::KeysRead)
        },
        Operation::new("disableSiteKey", Scope::KeysWrite),
    ]
}
