//! What signs a site's webhooks: read when, rotate.

use std::sync::Arc;

use domain::{id::SiteId, scope::Scope};
use management::{
    Management,
    webhook_secrets::{self, Dropped, IssuedSecret},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::webhook_secret::Standing;

use crate::{
    answer::Json,
    management::{
        Tag,
        caller::Caller,
        document::{Operation, example},
    },
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::Refusal,
};

/// Which secrets a site has, and when they sign. The secrets themselves are not shown.
#[derive(Serialize, Object)]
pub(crate) struct WebhookSecret {
    /// Since when the current one signs; null: since the site was created.
    #[oai(nullable)]
    signs_since: Option<Member<Time>>,
    /// Until then the one before it signs beside it; null if none does.
    #[oai(nullable)]
    previous_until: Option<Member<Time>>,
    /// From then on the next one signs; null if there is none.
    #[oai(nullable)]
    next_at: Option<Member<Time>>,
}

impl From<Standing> for WebhookSecret {
    fn from(standing: Standing) -> Self {
        Self {
            signs_since: standing.signs_since.map(Member::from),
            previous_until: standing.previous_until.map(Member::from),
            next_at: standing.next_at.map(Member::from),
        }
    }
}

/// When a new secret is to sign.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRotation {
    /// From when on the new secret signs, at most 30 days ahead; at once if nothing is said, or if it is past.
    #[serde(default, deserialize_with = "given")]
    activate_at: Option<Member<Time>>,
}

/// A new webhook secret.
#[derive(Serialize, Object)]
pub(crate) struct IssuedWebhookSecret {
    /// The secret itself, for the receivers. It is shown here and never again.
    secret: String,
    /// From then on it signs.
    activates_at: Member<Time>,
    /// Until then the one before it signs beside it.
    previous_until: Member<Time>,
    /// Which secret this rotation has dropped, from now on: `next`, which was to sign later and never will, or `previous`, with
    /// which nothing verifies any more although it had time left; null if none. More may be added.
    #[oai(nullable)]
    dropped: Option<String>,
}

impl From<IssuedSecret> for IssuedWebhookSecret {
    fn from(IssuedSecret { rotated, dropped }: IssuedSecret) -> Self {
        Self {
            secret: rotated.secret.expose().to_owned(),
            activates_at: rotated.activates_at.into(),
            previous_until: rotated.previous_until.into(),
            dropped: dropped.map(Dropped::as_str).map(str::to_owned),
        }
    }
}

pub(crate) struct WebhookSecrets;

#[OpenApi(tag = "Tag::Webhooks")]
impl WebhookSecrets {
    /// Read when a site's webhook secrets sign
    #[oai(
        path = "/sites/:site_id/webhook-secret",
        method = "get",
        operation_id = "getWebhookSecret"
    )]
    async fn get_webhook_secret(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<WebhookSecret>, Refusal> {
        let standing = webhook_secrets::get(&management, &caller, site_id.0).await?;
        Ok(Json(standing.into()))
    }

    /// Rotate a site's webhook secret
    ///
    /// The answer shows the new secret, once. From `activate_at` on it signs; for 24 hours from then the one before it signs, too,
    /// in `X-Service-Signature-Previous` and in `webhook-signature`, so that receivers change over when they like. A site has two
    /// secrets at most, so a rotation drops a third one at once: one that was to sign later, or one whose 24 hours are not over.
    /// `getWebhookSecret` tells beforehand whether there is one, and `dropped` afterwards. Rotate twice when a secret has become
    /// known: then nothing verifies with it any more.
    #[oai(
        path = "/sites/:site_id/webhook-secret/rotate",
        method = "post",
        operation_id = "rotateWebhookSecret"
    )]
    async fn rotate_webhook_secret(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<NewRotation>,
    ) -> Result<Json<IssuedWebhookSecret>, Refusal> {
        let activate_at = request.value.activate_at.map(|time| time.0.0);
        let issued = webhook_secrets::rotate(&management, &caller, site_id.0, activate_at).await?;
        Ok(Json(issued.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(json!({
                "signs_since": example::CREATED_AT,
                "previous_until": "2026-02-01T12:00:00.123456Z",
                "next_at": null,
            })),
            ..Operation::new("getWebhookSecret", Scope::WebhooksRead)
        },
        Operation {
            request: Some(json!({ "activate_at": "2026-01-31T12:00:00Z" })),
            answer: Some(json!({
                "secret": "whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVYQU0=",
                "activates_at": "2026-01-31T12:00:00.000000Z",
                "previous_until": "2026-02-01T12:00:00.000000Z",
                "dropped": null,
            })),
            ..Operation::new("rotateWebhookSecret", Scope::WebhooksWrite)
        },
    ]
}
