//! Sites as their teams see and change them. (What a submission needs to know of a site is in
//! [`super::Sites`].)

mod change;
mod groups;
mod read;
mod row;

use chrono::{DateTime, Utc};
use domain::{
    id::{ClosureId, RuleGroupId, SiteId, TeamId},
    image::ImageRetentionDays,
    media::{
        CompatUnchecked, ContentRetentionDays, ItemRetentionDays, OnFailure, StatusVocabulary,
    },
    metadata_pointer::MetadataPointer,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    webhook::WebhookRetentionDays,
};
use serde::Serialize;

pub use self::{
    change::change,
    groups::own_groups,
    read::{find, list, lock},
};

/// A site. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct ManagedSite {
    /// The site.
    pub id: SiteId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// What its team may change.
    #[serde(flatten)]
    pub settings: Settings,
    /// The closure that closes it, or has closed it; none while it is open.
    #[serde(rename = "closure_id")]
    pub closure: Option<ClosureId>,
    /// Since when it cannot be opened again; none before.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub closed_at: Option<DateTime<Utc>>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// What a team may change about a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Its name; no two sites of a team have the same.
    pub name: String,
    /// What happens to content that could not be checked.
    pub on_failure: OnFailure,
    /// How status queries spell the status.
    pub status_vocabulary: StatusVocabulary,
    /// The providers that get its texts, in its order of preference; none means the operator's
    /// order.
    pub providers: Option<Vec<String>>,
    /// The policy for models that judge by a policy; none means the policy of the operator's
    /// configuration.
    pub policy: Option<Policy>,
    /// How long providers' answers are reused for equal texts; none: never.
    pub answer_cache_seconds: Option<AnswerCacheSeconds>,
    /// Where the metadata of its items has their author; none: they have none. It counts for items
    /// that are accepted later.
    pub author_pointer: Option<MetadataPointer>,
    /// Whether the endpoints for clients of other services keep items. If not, an item is removed soon
    /// after its verdict, and nobody is told of it.
    pub compat_store: bool,
    /// What clients of OpenAI get for content of which something could not be checked.
    pub compat_unchecked: CompatUnchecked,
    /// Submissions of each key in each UTC minute; none, or more than the plan allows, means the
    /// plan's limit.
    pub submissions_per_minute: Option<PerMinute>,
    /// Status queries of each key in each UTC minute; the same applies.
    pub status_queries_per_minute: Option<PerMinute>,
    /// How long items are kept after the last verdict, with all that belongs to them; none: for ever.
    /// An item stays while its events do, while it waits for a person, and while its answer is known
    /// to the desk.
    pub item_retention_days: Option<ItemRetentionDays>,
    /// The same for the content of items: text, metadata, image, notes. What is known of them stays;
    /// none: the content is kept as long as the item.
    pub content_retention_days: Option<ContentRetentionDays>,
    /// How long files of images are kept after the last verdict. What is known of them stays.
    pub image_retention_days: ImageRetentionDays,
    /// How long events, deliveries that have ended and their attempts are kept.
    pub webhook_retention_days: WebhookRetentionDays,
    /// The group that judges when no other does.
    #[serde(rename = "default_rule_group_id")]
    pub default_rule_group: RuleGroupId,
    /// The groups that judge together, in the order in which they do, which is that of their
    /// creation.
    #[serde(rename = "rule_group_ids")]
    pub rule_groups: Vec<RuleGroupId>,
}

impl Settings {
    /// The usual settings under this name.
    pub fn named(name: String, default_rule_group: RuleGroupId) -> Self {
        Self {
            name,
            on_failure: OnFailure::Review,
            status_vocabulary: StatusVocabulary::State,
            providers: None,
            policy: None,
            answer_cache_seconds: None,
            author_pointer: None,
            compat_store: true,
            compat_unchecked: CompatUnchecked::Flag,
            submissions_per_minute: None,
            status_queries_per_minute: None,
            item_retention_days: None,
            content_retention_days: None,
            image_retention_days: ImageRetentionDays::of::<30>(),
            webhook_retention_days: WebhookRetentionDays::of::<30>(),
            default_rule_group,
            rule_groups: Vec::new(),
        }
    }
}
