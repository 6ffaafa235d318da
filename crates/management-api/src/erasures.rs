//! Erasures: remove everything that is stored about some items, watch it, get the certificate.

use api_common::{
    Accepted, Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time, given,
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    author::Author,
    chain::State,
    erasure::{self, MetadataValue, Subject, SubjectKind},
    id::{ActorId, ErasureId, MediaId, SiteId, TeamId},
    metadata_pointer::MetadataPointer,
    scope::Scope,
};
use management::{
    Refused,
    erasures::{self, Wanted},
};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Erasures;

#[OpenApi(tag = "Tag::Erasures")]
impl Erasures {
    /// List erasures
    ///
    /// Newest first. Erasures and their certificates are kept for 90 days after their end.
    #[oai(path = "/erasures", method = "get", operation_id = "listErasures")]
    async fn list_erasures(
        &self,
        caller: Caller,
        /// The most items to return.
        limit: Query<Limit>,
        /// `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Erasure>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let found = erasures::list(&caller, part.page()).await?;
        Ok(Json(part.list(found, |erasure| erasure.id.as_uuid())))
    }

    /// Erase items
    ///
    /// Removes everything that is stored about some items, in the background: content, metadata, images and their hashes, what
    /// providers said, idempotency keys, notes, reasons that people wrote, events and deliveries, dead jobs. Waiting deliveries are not
    /// sent any more, and there is no event that tells of the erasure. What is left of an item is its id, its times and its verdict. An
    /// item without a verdict goes altogether. Entries of hash lists stay.
    ///
    /// The erasure is about items that were accepted before it, at most 5 minutes after it was asked for. It cannot be undone or
    /// stopped. Name the items by exactly one of `media_ids`, `app_media_ids`, `author`, `metadata` and `everything`. A team has
    /// at most 100 erasures that have not ended.
    #[oai(path = "/erasures", method = "post", operation_id = "createErasure")]
    async fn create_erasure(
        &self,
        caller: Caller,
        request: JsonBody<NewErasure>,
    ) -> Result<Accepted<Erasure>, Refusal> {
        let wanted = request.value.read()?;
        let erasure = erasures::create(&caller, &wanted).await?;
        Ok(Accepted::at(
            format!("{PREFIX}/erasures/{}", erasure.id),
            erasure,
        ))
    }

    /// Read the key that checks certificates
    ///
    /// Keep it where you keep the certificates. It does not change.
    #[oai(
        path = "/erasures/signing-key",
        method = "get",
        operation_id = "getErasureSigningKey"
    )]
    async fn get_erasure_signing_key(&self, caller: Caller) -> Result<Json<SigningKey>, Refusal> {
        let key = erasures::public_key(&caller).await?;
        Ok(Json(key.into()))
    }

    /// Read an erasure
    ///
    /// Shows how far it has got, and its certificate when it has finished.
    #[oai(
        path = "/erasures/:erasure_id",
        method = "get",
        operation_id = "getErasure"
    )]
    async fn get_erasure(
        &self,
        caller: Caller,
        /// The erasure.
        erasure_id: Path<ErasureId>,
    ) -> Result<Json<Erasure>, Refusal> {
        let erasure = erasures::get(&caller, erasure_id.0).await?;
        Ok(Json(erasure.into()))
    }

    /// Continue an erasure that failed
    ///
    /// It goes on where it was. An erasure that has not failed stays as it is.
    #[oai(
        path = "/erasures/:erasure_id/resume",
        method = "post",
        operation_id = "resumeErasure"
    )]
    async fn resume_erasure(
        &self,
        caller: Caller,
        /// The erasure.
        erasure_id: Path<ErasureId>,
    ) -> Result<Json<Erasure>, Refusal> {
        let erasure = erasures::resume(&caller, erasure_id.0).await?;
        Ok(Json(erasure.into()))
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let erasure = json!({
        "id": example_values::ERASURE,
        "team_id": example_values::TEAM,
        "site_id": null,
        "kind": "author",
        "state": "finished",
        "counts": {
            "items": 128,
            "without_verdict": 1,
            "held": 0,
            "images": 12,
            "analyses": 127,
            "hash_matches": 0,
            "verdicts": 131,
            "notes": 2,
            "opinions": 4,
            "reviews": 1,
            "events": 255,
            "deliveries": 255,
            "idempotency_keys": 3,
            "dead_jobs": 0,
        },
        "certificate": "eyJhbGciOiJFZERTQSJ9.eyJmb3JtYXQiOiJnYXRlaG91c2UtZXJhc3VyZS0xIn0.c2lnbmF0dXJl",
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": "2026-01-31T12:00:02.512000Z",
    });
    vec![
        Operation::new("listErasures", Scope::ErasuresRead).answer(example_values::list(&erasure)),
        Operation::new("createErasure", Scope::ErasuresWrite)
            .problems(&[Code::LimitReached])
            .request(json!({ "site_id": example_values::SITE, "author": "user-4711" }))
            .answer(erasure.clone()),
        Operation::new("getErasureSigningKey", Scope::ErasuresRead).answer(json!({
            "kty": "OKP",
            "crv": "Ed25519",
            "kid": example_values::SIGNING_KEY,
            "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        })),
        Operation::new("getErasure", Scope::ErasuresRead).answer(erasure.clone()),
        Operation::new("resumeErasure", Scope::ErasuresWrite).answer(erasure),
    ]
}

/// Which items to erase. Give exactly one of `media_ids`, `app_media_ids`, `author`, `metadata` and `everything`.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewErasure {
    /// The team whose items they are. If omitted, the team of the token, or that of the site.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// Only items of this site. If omitted, of all sites of the team.
    #[serde(default, deserialize_with = "given")]
    site_id: Option<Field<SiteId>>,
    /// The items with these ids.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_items = 1, max_items = 1000)]
    media_ids: Option<Vec<Field<MediaId>>>,
    /// The items that were submitted with one of these `app_media_id`.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_items = 1, max_items = 1000)]
    app_media_ids: Option<Vec<String>>,
    /// The items of this author. Sites say where the metadata have the author (`author_pointer`).
    #[serde(default, deserialize_with = "given")]
    author: Option<Field<Author>>,
    /// The items whose metadata have a certain value.
    #[serde(default, deserialize_with = "given")]
    metadata: Option<NewMetadataValue>,
    /// `true`: all items.
    #[serde(default, deserialize_with = "given")]
    everything: Option<bool>,
}

/// A value in the metadata of items. All items are looked at for it, because there is no index.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
struct NewMetadataValue {
    /// Where it is: a JSON pointer (RFC 6901).
    pointer: Field<MetadataPointer>,
    /// The value. `7` is neither `"7"` nor `7.0`.
    value: Value,
}

impl NewErasure {
    /// # Errors
    /// Not exactly one way to choose items is used.
    fn read(self) -> Result<Wanted, Refused> {
        let mut subjects = Vec::new();
        if let Some(ids) = self.media_ids {
            let ids = ids.into_iter().map(|id| id.0).collect();
            subjects.push(("media_ids", Subject::MediaIds(ids)));
        }
        if let Some(ids) = self.app_media_ids {
            subjects.push(("app_media_ids", Subject::AppMediaIds(ids)));
        }
        if let Some(author) = self.author {
            subjects.push(("author", Subject::Author(author.0)));
        }
        if let Some(metadata) = self.metadata {
            let value = MetadataValue {
                pointer: metadata.pointer.0,
                value: metadata.value,
            };
            subjects.push(("metadata", Subject::Metadata(value)));
        }
        match self.everything {
            Some(true) => subjects.push(("everything", Subject::Everything {})),
            Some(false) => return Err(Refused::field("everything", "must be true if it is given")),
            None => {}
        }
        let mut subjects = subjects.into_iter();
        match (subjects.next(), subjects.next()) {
            (Some((_, subject)), None) => Ok(Wanted {
                team: self.team_id.map(|team| team.0),
                site: self.site_id.map(|site| site.0),
                subject,
            }),
            (Some((first, _)), Some((second, _))) => Err(Refused::field(
                second,
                format!("cannot be given with {first}"),
            )),
            (None, _) => Err(Refused::field(
                "media_ids",
                "or app_media_ids, author, metadata or everything is required",
            )),
        }
    }
}

/// An erasure, and how far it has got. It does not tell which items it is about, because that may name a person.
#[derive(Serialize, Schema)]
pub(crate) struct Erasure {
    /// The erasure.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site whose items they are. `null` means all sites of the team.
    #[schema(nullable)]
    site_id: Option<Uuid>,
    /// How the items were chosen.
    kind: Field<SubjectKind>,
    /// Its state. An erasure that failed can be continued.
    state: Field<State>,
    /// What was removed so far.
    counts: ErasureCounts,
    /// The certificate: a JSON web signature (RFC 7515) in its compact form, signed with Ed25519. `null` before the end.
    #[schema(nullable)]
    certificate: Option<String>,
    /// Why it failed. `null` if it did not.
    #[schema(nullable)]
    error: Option<String>,
    /// The person or token that asked for it. `null` for the command line.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was asked for.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

/// How much an erasure has removed.
#[derive(Serialize, Schema)]
struct ErasureCounts {
    /// Items of which nothing is left but their ids, times and verdicts.
    items: i64,
    /// Of these, items without a verdict: nothing is left of them.
    without_verdict: i64,
    /// Items that were left as they are, because a legal hold is in force.
    held: i64,
    /// Images, with their hashes.
    images: i64,
    /// What providers said: analyses and parts of them.
    analyses: i64,
    /// Matches of images with hash lists.
    hash_matches: i64,
    /// Verdicts whose reasons and matched texts were removed.
    verdicts: i64,
    /// Notes of people.
    notes: i64,
    /// Reasons that people gave in reviews.
    opinions: i64,
    /// Reviews.
    reviews: i64,
    /// Events.
    events: i64,
    /// Deliveries of these events, with the answers to their attempts.
    deliveries: i64,
    /// Idempotency keys.
    idempotency_keys: i64,
    /// Dead jobs.
    dead_jobs: i64,
}

impl From<erasure::Counts> for ErasureCounts {
    fn from(counts: erasure::Counts) -> Self {
        Self {
            items: counts.items,
            without_verdict: counts.without_verdict,
            held: counts.held,
            images: counts.images,
            analyses: counts.analyses,
            hash_matches: counts.hash_matches,
            verdicts: counts.verdicts,
            notes: counts.notes,
            opinions: counts.opinions,
            reviews: counts.reviews,
            events: counts.events,
            deliveries: counts.deliveries,
            idempotency_keys: counts.idempotency_keys,
            dead_jobs: counts.dead_jobs,
        }
    }
}

impl From<erasures::Erasure> for Erasure {
    fn from(erasure: erasures::Erasure) -> Self {
        Self {
            id: erasure.id.as_uuid(),
            team_id: erasure.team.as_uuid(),
            site_id: erasure.site.map(SiteId::as_uuid),
            kind: Field(erasure.kind),
            state: Field(erasure.state),
            counts: erasure.counts.into(),
            certificate: erasure.certificate,
            error: erasure.error,
            created_by: erasure.created_by.map(ActorId::as_uuid),
            created_at: erasure.created_at.into(),
            ended_at: erasure.ended_at.map(Field::from),
        }
    }
}

/// The public key that checks certificates: a JSON web key (RFC 7517, RFC 8037).
#[derive(Serialize, Schema)]
pub(crate) struct SigningKey {
    /// Always `OKP`.
    kty: String,
    /// Always `Ed25519`.
    crv: String,
    /// Its id, which certificates name.
    kid: Uuid,
    /// The key, as base64url without padding.
    x: String,
}

impl From<erasures::PublicKey> for SigningKey {
    fn from(key: erasures::PublicKey) -> Self {
        Self {
            kty: "OKP".into(),
            crv: "Ed25519".into(),
            kid: key.id.as_uuid(),
            x: URL_SAFE_NO_PAD.encode(key.bytes),
        }
    }
}
