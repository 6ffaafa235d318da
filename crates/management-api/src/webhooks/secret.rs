//! The secrets that sign a site's webhooks: read when they sign, rotate.

use api_common::{Field, Json, JsonBody, Path, Refusal, Schema, Time, given};
use domain::{id::SiteId, scope::Scope};
use management::webhook_secrets::{self, Dropped, IssuedSecret};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::site::webhook_secret::Standing;

use crate::{Caller, Operation, Tag, example_values};

/// When a site's webhook secrets sign. The secrets themselves are not shown.
#[derive(Serialize, Schema)]
pub(crate) struct WebhookSecret {
    /// Since when the current secret signs. `null` means since the site was created.
    #[schema(nullable)]
    signs_since: Option<Field<Time>>,
    /// Until when the previous secret signs as well. `null` if there is none.
    #[schema(nullable)]
    previous_until: Option<Field<Time>>,
    /// When the next secret begins to sign. `null` if there is none.
    #[schema(nullable)]
    next_at: Option<Field<Time>>,
}

impl From<Standing> for WebhookSecret {
    fn from(standing: Standing) -> Self {
        Self {
            signs_since: standing.signs_since.map(Field::from),
            previous_until: standing.previous_until.map(Field::from),
            next_at: standing.next_at.map(Field::from),
        }
    }
}

/// When the new secret begins to sign.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRotation {
    /// When the new secret begins to sign, at most 30 days ahead. If omitted or in the past, it signs at once.
    #[serde(default, deserialize_with = "given")]
    activate_at: Option<Field<Time>>,
}

/// A new webhook secret.
#[derive(Serialize, Schema)]
pub(crate) struct IssuedWebhookSecret {
    /// The secret itself, for your receivers. It is shown only here.
    secret: String,
    /// When it begins to sign.
    activates_at: Field<Time>,
    /// Until when the previous secret signs as well.
    previous_until: Field<Time>,
    /// Which older secret this rotation dropped at once: `next` was scheduled and will never sign; `previous` no longer
    /// signs although its 24 hours were not over. `null` if none was dropped. More values may be added.
    #[schema(nullable)]
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

#[derive(Default)]
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
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<WebhookSecret>, Refusal> {
        let standing = webhook_secrets::get(&caller, site_id.0).await?;
        Ok(Json(standing.into()))
    }

    /// Rotate a site's webhook secret
    ///
    /// The new secret is shown only in this answer. It signs from `activate_at` on. For 24 hours after that, the previous
    /// secret signs as well, in `X-Service-Signature-Previous` and in `webhook-signature`, so that your receivers can
    /// switch at any time in between. A site has at most two secrets, so a rotation drops a third one at once: one that is
    /// scheduled, or one whose 24 hours are not over. `getWebhookSecret` tells you beforehand whether there is one, and
    /// `dropped` tells you afterwards. If a secret has leaked, rotate twice: then no signature verifies with it any more.
    #[oai(
        path = "/sites/:site_id/webhook-secret/rotate",
        method = "post",
        operation_id = "rotateWebhookSecret"
    )]
    async fn rotate_webhook_secret(
        &self,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<NewRotation>,
    ) -> Result<Json<IssuedWebhookSecret>, Refusal> {
        let activate_at = request.value.activate_at.map(|time| time.0.0);
        let issued = webhook_secrets::rotate(&caller, site_id.0, activate_at).await?;
        Ok(Json(issued.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("getWebhookSecret", Scope::WebhooksRead).answer(json!({
            "signs_since": example_values::CREATED_AT,
            "previous_until": "2026-02-01T12:00:00.123456Z",
            "next_at": null,
        })),
        Operation::new("rotateWebhookSecret", Scope::WebhooksWrite)
            .request(json!({ "activate_at": "2026-01-31T12:00:00Z" }))
            .answer(json!({
                "secret": "whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVYQU0=",
                "activates_at": "2026-01-31T12:00:00.000000Z",
                "previous_until": "2026-02-01T12:00:00.000000Z",
                "dropped": null,
            })),
    ]
}
