//! Bulk decisions in requests and responses.

use api_common::{Field, Schema, Time, given};
use domain::{
    author::Author,
    bounded_integer::BoundedInteger,
    chain::State,
    id::{ReviewId, ReviewPolicyId, SiteId},
    media::Ruling,
    name::Name,
    reason::Reason,
    review::Severity,
    score::Category,
};
use management::{
    Refused,
    reviews::{
        NewDecision,
        bulk::{self, Meant},
    },
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::reviews::schemas::Review;

/// Which reviews are meant: those that match all members. Reviews that somebody has are never meant.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewReviewFilter {
    /// Only reviews of items of this site.
    #[schema(nullable)]
    #[serde(default)]
    site_id: Option<Field<SiteId>>,
    /// Only reviews of this severity.
    #[schema(nullable)]
    #[serde(default)]
    severity: Option<Field<Severity>>,
    /// Only reviews for which this policy is suggested.
    #[schema(nullable)]
    #[serde(default)]
    policy_id: Option<Field<ReviewPolicyId>>,
    /// Only reviews of items that the machine flagged for this category.
    #[schema(nullable)]
    #[serde(default)]
    category: Option<Field<Category>>,
    /// Only reviews of items that a rule with this name matched.
    #[schema(nullable)]
    #[serde(default)]
    rule: Option<Field<Name>>,
    /// Only reviews of items by this author.
    #[schema(nullable)]
    #[serde(default)]
    author: Option<Field<Author>>,
}

impl From<NewReviewFilter> for bulk::Filter {
    fn from(filter: NewReviewFilter) -> Self {
        Self {
            site: filter.site_id.map(|site| site.0),
            severity: filter.severity.map(|severity| severity.0),
            policy: filter.policy_id.map(|policy| policy.0),
            category: filter.category.map(|category| category.0),
            rule: filter.rule.map(|rule| rule.0),
            author: filter.author.map(|author| author.0),
        }
    }
}

/// Which reviews were meant: those that matched all members that are not `null`.
#[derive(Serialize, Schema)]
struct ReviewFilter {
    /// Reviews of items of this site.
    #[schema(nullable)]
    site_id: Option<Field<SiteId>>,
    /// Reviews of this severity.
    #[schema(nullable)]
    severity: Option<Field<Severity>>,
    /// Reviews for which this policy was suggested.
    #[schema(nullable)]
    policy_id: Option<Field<ReviewPolicyId>>,
    /// Reviews of items that the machine had flagged for this category.
    #[schema(nullable)]
    category: Option<Field<Category>>,
    /// Reviews of items that a rule with this name had matched.
    #[schema(nullable)]
    rule: Option<Field<Name>>,
    /// Reviews of items by this author.
    #[schema(nullable)]
    author: Option<Field<Author>>,
}

impl From<bulk::Filter> for ReviewFilter {
    fn from(filter: bulk::Filter) -> Self {
        Self {
            site_id: filter.site.map(Field),
            severity: filter.severity.map(Field),
            policy_id: filter.policy.map(Field),
            category: filter.category.map(Field),
            rule: filter.rule.map(Field),
            author: filter.author.map(Field),
        }
    }
}

/// What a bulk decision would be about.
#[derive(Serialize, Schema)]
pub(crate) struct BulkPreview {
    /// How many reviews match. Send it with the decision. At most 10,000.
    count: usize,
    /// Whether more than 10,000 match, which is more than one bulk decision can be about.
    is_too_many: bool,
    /// The most urgent of them, at most 50.
    data: Vec<PreviewedReview>,
}

/// A review that a bulk decision would be about.
#[derive(Serialize, Schema)]
struct PreviewedReview {
    /// The item. `getMediaPreview` shows its image.
    media_id: Uuid,
    /// The review.
    review: Review,
}

impl TryFrom<bulk::Preview> for BulkPreview {
    type Error = store::Error;

    fn try_from(preview: bulk::Preview) -> Result<Self, store::Error> {
        let data = preview.shown.into_iter().map(|shown| {
            Ok(PreviewedReview {
                media_id: shown.review.media.as_uuid(),
                review: Review::try_from(shown)?,
            })
        });
        Ok(Self {
            count: preview.count,
            is_too_many: preview.is_too_many,
            data: data.collect::<Result<_, store::Error>>()?,
        })
    }
}

/// One decision about many reviews. Give either `review_ids`, or `filter` and `count`.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewBulkDecision {
    /// Whether the items may be displayed.
    decision: Field<Ruling>,
    /// The policy by which they are rejected.
    #[serde(default, deserialize_with = "given")]
    policy_id: Option<Field<ReviewPolicyId>>,
    /// The reason, which the application can read. If omitted, that of the policy. A rejection without a policy needs one.
    #[serde(default, deserialize_with = "given")]
    reason: Option<Field<Reason>>,
    /// The reviews.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_items = 1, max_items = 500)]
    review_ids: Option<Vec<Field<ReviewId>>>,
    /// Which reviews: all that match.
    #[serde(default, deserialize_with = "given")]
    filter: Option<NewReviewFilter>,
    /// The number of reviews that the preview showed. If more match by now, nothing is decided.
    #[serde(default, deserialize_with = "given")]
    count: Option<Field<BoundedInteger<1, 10_000>>>,
}

impl NewBulkDecision {
    /// # Errors
    /// Both ways to name reviews are used, or neither is.
    pub(super) fn read(self) -> Result<(NewDecision, Meant), Refused> {
        let meant = match (self.review_ids, self.filter, self.count) {
            (Some(reviews), None, None) => {
                Meant::Named(reviews.into_iter().map(|review| review.0).collect())
            }
            (None, Some(filter), Some(count)) => Meant::Matching {
                filter: filter.into(),
                count: usize::try_from(count.0.get()).unwrap_or(0),
            },
            (None, Some(_), None) => {
                let message = "is required with `filter`: the number that the preview showed";
                return Err(Refused::field("count", message));
            }
            (None, None, _) => {
                return Err(Refused::field("review_ids", "or `filter` is required"));
            }
            (Some(_), Some(_), _) | (Some(_), None, Some(_)) => {
                let message = "must be given alone, without `filter` and `count`";
                return Err(Refused::field("review_ids", message));
            }
        };
        let new = NewDecision {
            ruling: self.decision.0,
            policy: self.policy_id.map(|policy| policy.0),
            reason: self.reason.map(|reason| reason.0),
        };
        Ok((new, meant))
    }
}

/// One decision about many reviews, and how far it has got.
#[derive(Serialize, Schema)]
pub(crate) struct BulkDecision {
    /// The bulk decision.
    id: Uuid,
    /// What was decided.
    decision: Field<Ruling>,
    /// The policy by which the items are rejected.
    #[schema(nullable)]
    policy_id: Option<Uuid>,
    /// The reason, which the application can read.
    reason: String,
    /// Which reviews were meant. `null` if they were named.
    #[schema(nullable)]
    filter: Option<ReviewFilter>,
    /// How many reviews it is about.
    total: i32,
    /// In how many of them the decision was made so far.
    done: i32,
    /// How many were skipped so far, because somebody had them or they had ended.
    skipped: i32,
    /// How many of the decisions were undone before they were told.
    undone: i32,
    /// Its state.
    state: Field<State>,
    /// Why it failed. `null` if it did not.
    #[schema(nullable)]
    error: Option<String>,
    /// The person or token that decided.
    created_by: Uuid,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs. The last decisions may still be held then.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<bulk::Bulk> for BulkDecision {
    fn from(bulk: bulk::Bulk) -> Self {
        Self {
            id: bulk.id.as_uuid(),
            decision: Field(bulk.decision),
            policy_id: bulk.policy.map(ReviewPolicyId::as_uuid),
            reason: bulk.reason,
            filter: bulk.filter.map(ReviewFilter::from),
            total: bulk.total,
            done: bulk.done,
            skipped: bulk.skipped,
            undone: bulk.undone,
            state: Field(bulk.state),
            error: bulk.error,
            created_by: bulk.created_by.as_uuid(),
            created_at: bulk.created_at.into(),
            ended_at: bulk.ended_at.map(Field::from),
        }
    }
}
