//! Erasures: everything that is stored about some items is removed, and a certificate says so.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::{author::Author, id::MediaId, media::named_set, metadata_pointer::MetadataPointer};

/// The most items that one erasure can name.
pub const MOST_NAMED: usize = 1_000;

/// The most erasures of a team that have not ended.
pub const MOST_RUNNING: i64 = 100;

named_set! {
    /// How the items of an erasure are chosen.
    SubjectKind {
        /// They are named by their ids.
        MediaIds = "media_ids",
        /// They are named by the application's own ids.
        AppMediaIds = "app_media_ids",
        /// Those of an author.
        Author = "author",
        /// Those that have a certain value in their metadata.
        Metadata = "metadata",
        /// All.
        Everything = "everything",
    }
}

/// Which items an erasure is about. As JSON it is an object with one member, whose name is its [kind](SubjectKind):
/// `{"author":"anna"}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Those with these ids.
    MediaIds(Vec<MediaId>),
    /// Those that the application calls by one of these ids.
    AppMediaIds(Vec<String>),
    /// Those of this author.
    Author(Author),
    /// Those whose metadata have this value in this place.
    Metadata(MetadataValue),
    /// All items, also those of which nothing is known.
    Everything {},
}

/// A value in the metadata of items.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetadataValue {
    /// Where it is.
    pub pointer: MetadataPointer,
    /// The value. JSON values are compared: `7` is neither `"7"` nor `7.0`.
    pub value: serde_json::Value,
}

impl MetadataValue {
    /// Whether these metadata have the value.
    pub fn is_in(&self, metadata: &RawValue) -> bool {
        self.pointer
            .value(metadata)
            .and_then(|found| serde_json::from_str::<serde_json::Value>(found.get()).ok())
            .is_some_and(|found| found == self.value)
    }
}

impl Subject {
    /// Its kind.
    pub const fn kind(&self) -> SubjectKind {
        match self {
            Self::MediaIds(_) => SubjectKind::MediaIds,
            Self::AppMediaIds(_) => SubjectKind::AppMediaIds,
            Self::Author(_) => SubjectKind::Author,
            Self::Metadata(_) => SubjectKind::Metadata,
            Self::Everything {} => SubjectKind::Everything,
        }
    }

    /// SHA-256 of the salt and the subject as compact JSON. Who knows both can tell whether a certificate is about this subject, which
    /// it does not name.
    pub fn digest(&self, salt: &[u8]) -> [u8; 32] {
        let json = serde_json::to_vec(self).unwrap_or_default();
        Sha256::new()
            .chain_update(salt)
            .chain_update(json)
            .finalize()
            .into()
    }
}

/// A digest of a list of items that can be continued: it begins with 32 zero bytes, and each item makes it the SHA-256 of the digest so
/// far and the 16 bytes of the item's id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemsDigest([u8; 32]);

impl ItemsDigest {
    /// The digest of the list with this item at its end.
    #[must_use]
    pub fn with(self, media: MediaId) -> Self {
        let digest = Sha256::new()
            .chain_update(self.0)
            .chain_update(media.as_uuid().as_bytes());
        Self(digest.finalize().into())
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ItemsDigest {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// How many things an erasure has removed or emptied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Items of which nothing is left but their ids, times and verdicts.
    pub items: i64,
    /// Of these, items without a verdict: nothing is left of them.
    pub without_verdict: i64,
    /// Items that were left as they are, because a legal hold is in force.
    pub held: i64,
    /// Images, with their hashes.
    pub images: i64,
    /// What providers said: analyses, and parts of analyses.
    pub analyses: i64,
    /// Matches of images with hash lists. The entries of the lists stay.
    pub hash_matches: i64,
    /// Verdicts whose reasons and matched texts were removed.
    pub verdicts: i64,
    /// Notes of people.
    pub notes: i64,
    /// Reasons that people gave in reviews.
    pub opinions: i64,
    /// Reviews that waited for a person or in which somebody looked.
    pub reviews: i64,
    /// Events.
    pub events: i64,
    /// Deliveries of these events, with the requests and answers of their attempts.
    pub deliveries: i64,
    /// Idempotency keys.
    pub idempotency_keys: i64,
    /// Dead jobs.
    pub dead_jobs: i64,
}

/// What a certificate says. It is signed as a JSON web signature, RFC 7515.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// The erasure.
    pub erasure_id: String,
    /// The team whose items they were.
    pub team_id: String,
    /// The site whose items they were. `None`: of all sites of the team.
    pub site_id: Option<String>,
    /// Which items.
    pub subject: CertifiedSubject,
    /// Who asked for it.
    pub requested_by: String,
    /// When it was asked for, RFC 3339. It is about items that were accepted before.
    pub requested_at: String,
    /// When it ended, RFC 3339.
    pub ended_at: String,
    /// How much was removed.
    pub counts: Counts,
    /// The [`ItemsDigest`] of the items, by the ids of their sites and then their own, as 64 hexadecimal digits.
    pub items_digest: String,
}

/// Which items a certificate is about, without naming them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertifiedSubject {
    /// How they were chosen.
    pub kind: SubjectKind,
    /// As hexadecimal digits.
    pub salt: String,
    /// [`Subject::digest`] with this salt, as hexadecimal digits.
    pub sha256: String,
}

/// The format of a [`Certificate`].
pub const FORMAT: &str = "gatehouse-erasure-1";

#[cfg(test)]
mod tests {
    use serde_json::json;
    use uuid::Uuid;

    use super::*;

    fn subject(json: serde_json::Value) -> Subject {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_subject_is_an_object_with_one_member_named_by_its_kind() {
        let id = Uuid::from_u128(7);
        for (kind, value) in [
            (SubjectKind::MediaIds, json!([id])),
            (SubjectKind::AppMediaIds, json!(["post-1"])),
            (SubjectKind::Author, json!("anna")),
            (
                SubjectKind::Metadata,
                json!({ "pointer": "/user/id", "value": 7 }),
            ),
            (SubjectKind::Everything, json!({})),
        ] {
            let json = json!({ kind.as_str(): value });
            let subject = subject(json.clone());
            assert_eq!(subject.kind(), kind);
            assert_eq!(serde_json::to_value(&subject).unwrap(), json);
        }
    }

    #[test]
    fn metadata_match_by_their_value_and_not_by_their_text() {
        let wanted =
            |value| match subject(json!({ "metadata": { "pointer": "/user/id", "value": value } }))
            {
                Subject::Metadata(wanted) => wanted,
                other => panic!("{other:?}"),
            };
        let is_in = |wanted: &MetadataValue, metadata: &str| {
            wanted.is_in(&RawValue::from_string(metadata.to_owned()).unwrap())
        };
        let seven = wanted(json!(7));
        assert!(is_in(&seven, r#"{"user":{ "id" : 7 }}"#));
        for other in [
            r#"{"user":{"id":"7"}}"#,
            r#"{"user":{"id":77}}"#,
            r#"{"user":7}"#,
            r#"{"id":7}"#,
            "[7]",
        ] {
            assert!(!is_in(&seven, other), "{other}");
        }
        let object = wanted(json!({ "b": [1], "a": "ü" }));
        assert!(is_in(
            &object,
            r#"{"user":{"id":{"a":"\u00fc","b":[ 1 ]}}}"#
        ));
    }

    #[test]
    fn the_digest_of_a_list_can_be_continued_and_depends_on_order_and_members() {
        let id = |n| MediaId::from(Uuid::from_u128(n));
        let of = |ids: &[u128]| {
            ids.iter()
                .fold(ItemsDigest::default(), |digest, n| digest.with(id(*n)))
        };
        assert_eq!(of(&[1, 2, 3]), of(&[1, 2]).with(id(3)));
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[1, 2]), of(&[1]));
        assert_eq!(of(&[]).as_bytes(), &[0; 32]);
    }

    #[test]
    fn a_salt_hides_a_subject_from_who_guesses_without_it() {
        let anna = subject(json!({ "author": "anna" }));
        let bert = subject(json!({ "author": "bert" }));
        assert_eq!(anna.digest(b"salt"), anna.digest(b"salt"));
        assert_ne!(anna.digest(b"salt"), anna.digest(b"other"));
        assert_ne!(anna.digest(b"salt"), bert.digest(b"salt"));
    }
}
