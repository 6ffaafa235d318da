//! Erasures in requests and responses.

use api_common::field::{Field, Time, given};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    author::Author,
    chain::State,
    erasure::{self, MetadataValue, Subject, SubjectKind},
    id::{ActorId, MediaId, SiteId, TeamId},
    metadata_pointer::MetadataPointer,
};
use management::{
    Refused,
    erasures::{self, Wanted},
};
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

/// Which items to erase. Give exactly one of `media_ids`, `app_media_ids`, `author`, `metadata` and `everything`.
#[derive(Deserialize, Object)]
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
    #[oai(validator(min_items = 1, max_items = 1000))]
    media_ids: Option<Vec<Field<MediaId>>>,
    /// The items that were submitted with one of these `app_media_id`.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(min_items = 1, max_items = 1000))]
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
#[derive(Deserialize, Object)]
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
    pub(super) fn read(self) -> Result<Wanted, Refused> {
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
#[derive(Serialize, Object)]
pub(crate) struct Erasure {
    /// The erasure.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// The site whose items they are. `null` means all sites of the team.
    #[oai(nullable)]
    site_id: Option<Uuid>,
    /// How the items were chosen.
    kind: Field<SubjectKind>,
    /// Its state. An erasure that failed can be continued.
    state: Field<State>,
    /// What was removed so far.
    counts: ErasureCounts,
    /// The certificate: a JSON web signature (RFC 7515) in its compact form, signed with Ed25519. `null` before the end.
    #[oai(nullable)]
    certificate: Option<String>,
    /// Why it failed. `null` if it did not.
    #[oai(nullable)]
    error: Option<String>,
    /// The person or token that asked for it. `null` for the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was asked for.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[oai(nullable)]
    ended_at: Option<Field<Time>>,
}

/// How much an erasure has removed.
#[derive(Serialize, Object)]
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
#[derive(Serialize, Object)]
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
