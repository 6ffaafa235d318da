//! Reviews in requests and responses.

use std::collections::HashMap;

use api_common::{Field, RawJson, Schema, Time, given, public_schemas::ModerationDetails};
use chrono::{DateTime, Utc};
use domain::{
    bounded_integer::BoundedInteger,
    id::{ReviewId, ReviewPolicyId},
    media::{ContentType, Ruling},
    reason::Reason,
    review::{NoteText, ReviewKind, Severity, Tier},
};
use management::reviews;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::media::{MediaImage, without_internals};

/// How many reviews to claim.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewClaim {
    /// The most reviews that the caller wants to have. If omitted, one.
    #[serde(default, deserialize_with = "given")]
    limit: Option<Field<BoundedInteger<1, 20>>>,
}

impl NewClaim {
    pub(super) fn most(self) -> usize {
        let limit = self.limit.map_or(1, |limit| limit.0.get());
        usize::try_from(limit).unwrap_or(1)
    }
}

/// The reviews that the caller has.
#[derive(Serialize, Schema)]
pub(crate) struct ClaimedReviews {
    /// The reviews, in the order of the desk. None if nothing waits for the caller.
    data: Vec<Review>,
}

/// Something that a person is asked to look at.
#[derive(Serialize, Schema)]
pub(crate) struct Review {
    /// The review.
    id: Uuid,
    /// The item's site.
    site_id: Uuid,
    /// The site's name.
    site_name: String,
    /// Why a person is asked.
    kind: Field<ReviewKind>,
    /// How urgent it is.
    severity: Field<Severity>,
    /// Who is asked.
    tier: Field<Tier>,
    /// Since when it waits.
    waiting_since: Field<Time>,
    /// When it should be decided: the site's desk settings say after how long.
    due_at: Field<Time>,
    /// Until when it is the caller's.
    #[schema(nullable)]
    leased_until: Option<Field<Time>>,
    /// `image` if the item has an image, otherwise `text`.
    content_type: Field<ContentType>,
    /// The text.
    #[schema(nullable)]
    body: Option<String>,
    /// The URL of the image. It comes from strangers: do not open it in a browser.
    #[schema(nullable)]
    content_url: Option<String>,
    /// What is known about the image. `null` if there is none, or if it was not examined.
    #[schema(nullable)]
    image: Option<MediaImage>,
    /// Whether `getReviewPreview` can show the image.
    has_preview: bool,
    /// What was submitted as `metadata`, unchanged.
    #[schema(nullable)]
    metadata: Option<RawJson<HashMap<String, Value>>>,
    /// The author, from the metadata. `null` if the site has no `author_pointer`.
    #[schema(nullable)]
    author: Option<String>,
    /// What became of the author's earlier items. `null` if the item has no author.
    #[schema(nullable)]
    author_history: Option<ReviewAuthorHistory>,
    /// `moderation_details` of the machine's verdict: why a person is asked.
    #[schema(nullable)]
    details: Option<RawJson<ModerationDetails>>,
    /// Where and why rules matched. It is meant for people: its members may change.
    #[schema(nullable)]
    trace: Option<RawJson<HashMap<String, Value>>>,
    /// The policies that the machine's findings suggest, the most severe first.
    suggested_policy_ids: Vec<Uuid>,
    /// The last 100 notes of the team about the item, oldest first.
    notes: Vec<ReviewNote>,
    /// What people said before. Only leads see it.
    earlier: Vec<ReviewOpinion>,
}

/// What became of the last 100 items of the same author at the site that were accepted earlier.
#[derive(Serialize, Schema)]
struct ReviewAuthorHistory {
    /// Approved items.
    approved: i64,
    /// Rejected items.
    rejected: i64,
    /// Items that wait for a person.
    pending_review: i64,
}

/// A note about an item. No application reads it.
#[derive(Serialize, Schema)]
pub(super) struct ReviewNote {
    /// The note.
    id: Uuid,
    /// Who wrote it: a person or a token.
    by: Uuid,
    /// The name of the person or token.
    #[schema(nullable)]
    name: Option<String>,
    /// The text.
    text: String,
    /// When it was written.
    written_at: Field<Time>,
}

/// What somebody said in a review.
#[derive(Serialize, Schema)]
struct ReviewOpinion {
    /// Who: a person or a token.
    by: Uuid,
    /// The name of the person or token.
    #[schema(nullable)]
    name: Option<String>,
    /// What.
    decision: Field<Ruling>,
    /// By which policy.
    #[schema(nullable)]
    policy_id: Option<Uuid>,
    /// The reason.
    reason: String,
    /// When.
    decided_at: Field<Time>,
}

impl TryFrom<Vec<reviews::ReviewView>> for ClaimedReviews {
    type Error = store::Error;

    fn try_from(shown: Vec<reviews::ReviewView>) -> Result<Self, store::Error> {
        let data = shown.into_iter().map(Review::try_from);
        Ok(Self {
            data: data.collect::<Result<_, _>>()?,
        })
    }
}

impl TryFrom<reviews::ReviewView> for Review {
    type Error = store::Error;

    fn try_from(shown: reviews::ReviewView) -> Result<Self, store::Error> {
        let reviews::ReviewView {
            review,
            author,
            notes,
            unseen,
        } = shown;
        let kind = Field(review.shown_kind());
        let (details, trace) = match review.machine {
            Some(machine) => {
                let trace = without_internals(&machine.trace)?;
                (Some(machine.details.into()), Some(trace.into()))
            }
            None => (None, None),
        };
        Ok(Self {
            id: review.id.as_uuid(),
            site_id: review.site.as_uuid(),
            site_name: review.site_name,
            kind,
            severity: Field(review.severity),
            tier: Field(review.tier),
            waiting_since: review.waiting_since.into(),
            due_at: review.due_at.into(),
            leased_until: review.leased_until.map(Field::from),
            content_type: Field(review.content_type),
            body: review.body,
            content_url: review.content_url,
            image: review.image.and_then(MediaImage::of),
            has_preview: review.content_type == ContentType::Image && unseen.is_none(),
            metadata: review.metadata.map(RawJson::from),
            author: review.author,
            author_history: author.map(|history| ReviewAuthorHistory {
                approved: history.approved,
                rejected: history.rejected,
                pending_review: history.waiting,
            }),
            details,
            trace,
            suggested_policy_ids: review
                .suggested
                .into_iter()
                .map(ReviewPolicyId::as_uuid)
                .collect(),
            notes: notes.into_iter().map(ReviewNote::from).collect(),
            earlier: review
                .earlier
                .into_iter()
                .map(ReviewOpinion::from)
                .collect(),
        })
    }
}

impl From<reviews::Note> for ReviewNote {
    fn from(note: reviews::Note) -> Self {
        Self {
            id: note.id.as_uuid(),
            by: note.by.as_uuid(),
            name: note.name,
            text: note.body,
            written_at: note.written_at.into(),
        }
    }
}

impl From<reviews::Earlier> for ReviewOpinion {
    fn from(earlier: reviews::Earlier) -> Self {
        Self {
            by: earlier.by.as_uuid(),
            name: earlier.name,
            decision: Field(earlier.ruling),
            policy_id: earlier.policy.map(ReviewPolicyId::as_uuid),
            reason: earlier.reason,
            decided_at: earlier.said_at.into(),
        }
    }
}

/// Until when a review is the caller's.
#[derive(Serialize, Schema)]
pub(crate) struct Lease {
    /// The review.
    id: Uuid,
    /// Until when.
    leased_until: Field<Time>,
}

impl Lease {
    pub(super) fn new(review: ReviewId, until: DateTime<Utc>) -> Self {
        Self {
            id: review.as_uuid(),
            leased_until: until.into(),
        }
    }
}

/// What to tell the leads.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewEscalation {
    /// A note for them, which is kept with the item.
    #[serde(default, deserialize_with = "given")]
    note: Option<Field<NoteText>>,
}

impl From<NewEscalation> for Option<NoteText> {
    fn from(escalation: NewEscalation) -> Self {
        escalation.note.map(|note| note.0)
    }
}

/// A decision in a review.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewReviewDecision {
    /// Whether the item may be displayed.
    decision: Field<Ruling>,
    /// The policy by which it is rejected.
    #[serde(default, deserialize_with = "given")]
    policy_id: Option<Field<ReviewPolicyId>>,
    /// The reason, which the application can read. If omitted, that of the policy. A rejection without a policy needs one.
    #[serde(default, deserialize_with = "given")]
    reason: Option<Field<Reason>>,
}

impl From<NewReviewDecision> for reviews::NewDecision {
    fn from(new: NewReviewDecision) -> Self {
        Self {
            ruling: new.decision.0,
            policy: new.policy_id.map(|policy| policy.0),
            reason: new.reason.map(|reason| reason.0),
        }
    }
}

/// A decision that can be undone.
#[derive(Serialize, Schema)]
pub(crate) struct HeldDecision {
    /// The review.
    id: Uuid,
    /// What was decided.
    decision: Field<Ruling>,
    /// Until when it can be undone, and nobody is told.
    held_until: Field<Time>,
}

impl From<reviews::Held> for HeldDecision {
    fn from(held: reviews::Held) -> Self {
        Self {
            id: held.review.as_uuid(),
            decision: Field(held.ruling),
            held_until: held.until.into(),
        }
    }
}

/// How much waits on the desk.
#[derive(Serialize, Schema)]
pub(crate) struct WaitingReviews {
    /// The most severe first.
    data: Vec<WaitingPart>,
}

/// Reviews of one site, severity and tier.
#[derive(Serialize, Schema)]
struct WaitingPart {
    /// The site.
    site_id: Uuid,
    /// How urgent they are.
    severity: Field<Severity>,
    /// Who is asked.
    tier: Field<Tier>,
    /// How many there are.
    reviews: i64,
    /// How many of them should have been decided by now.
    overdue: i64,
    /// Since when the first of them waits.
    oldest_waiting_since: Field<Time>,
}

impl From<Vec<reviews::Waiting>> for WaitingReviews {
    fn from(waiting: Vec<reviews::Waiting>) -> Self {
        let parts = waiting.into_iter().map(|part| WaitingPart {
            site_id: part.site.as_uuid(),
            severity: Field(part.severity),
            tier: Field(part.tier),
            reviews: part.reviews,
            overdue: part.overdue,
            oldest_waiting_since: part.oldest.into(),
        });
        Self {
            data: parts.collect(),
        }
    }
}
