//! A site's row, as its team sees it.

use chrono::{DateTime, Utc};
use domain::{
    bounded_integer::OutOfBounds,
    id::{ClosureId, RuleGroupId},
    image::ImageRetentionDays,
    media::{ContentRetentionDays, ItemRetentionDays},
    metadata_pointer::MetadataPointer,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    webhook::WebhookRetentionDays,
};
use uuid::Uuid;

use super::{ManagedSite, Settings};
use crate::Error;

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) team_id: Uuid,
    pub(super) name: String,
    pub(super) on_failure: String,
    pub(super) status_vocabulary: String,
    pub(super) providers: Option<Vec<String>>,
    pub(super) policy: Option<String>,
    pub(super) answer_cache_seconds: Option<i32>,
    pub(super) author_pointer: Option<String>,
    pub(super) compat_store: bool,
    pub(super) compat_unchecked: String,
    pub(super) submissions_per_minute: Option<i32>,
    pub(super) status_queries_per_minute: Option<i32>,
    pub(super) item_retention_days: Option<i32>,
    pub(super) content_retention_days: Option<i32>,
    pub(super) image_retention_days: i32,
    pub(super) webhook_retention_days: i32,
    pub(super) default_rule_group_id: Uuid,
    pub(super) closure_id: Option<Uuid>,
    pub(super) closed_at: Option<DateTime<Utc>>,
    pub(super) created_at: DateTime<Utc>,
    pub(super) rule_groups: Vec<Uuid>,
}

impl TryFrom<Row> for ManagedSite {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        let per_minute = |number: Option<i32>| {
            number
                .map(|number| PerMinute::try_from(i64::from(number)))
                .transpose()
                .map_err(|error| Error::Unreadable(format!("a limit of site {} {error}", row.id)))
        };
        let policy = row.policy.map(|text| {
            Policy::try_from(text).map_err(|error| {
                Error::Unreadable(format!("the policy of site {} {error}", row.id))
            })
        });
        let unreadable = |error: OutOfBounds| {
            Error::Unreadable(format!("the retention of site {} {error}", row.id))
        };
        let answer_cache = row.answer_cache_seconds.map(i64::from);
        let answer_cache = answer_cache.map(AnswerCacheSeconds::try_from).transpose();
        let answer_cache = answer_cache.map_err(|error| {
            Error::Unreadable(format!("the answer cache of site {} {error}", row.id))
        });
        let author_pointer = row
            .author_pointer
            .map(MetadataPointer::try_from)
            .transpose();
        let author_pointer = author_pointer.map_err(|error| {
            Error::Unreadable(format!("the author pointer of site {} {error}", row.id))
        });
        let item_retention = row.item_retention_days.map(i64::from);
        let item_retention = item_retention.map(ItemRetentionDays::try_from).transpose();
        let content_retention = row.content_retention_days.map(i64::from);
        let content_retention = content_retention
            .map(ContentRetentionDays::try_from)
            .transpose();
        let image_retention = ImageRetentionDays::try_from(i64::from(row.image_retention_days));
        let webhook_retention =
            WebhookRetentionDays::try_from(i64::from(row.webhook_retention_days));
        Ok(Self {
            id: row.id.into(),
            team: row.team_id.into(),
            settings: Settings {
                submissions_per_minute: per_minute(row.submissions_per_minute)?,
                status_queries_per_minute: per_minute(row.status_queries_per_minute)?,
                name: row.name,
                on_failure: row.on_failure.parse()?,
                status_vocabulary: row.status_vocabulary.parse()?,
                providers: row.providers,
                policy: policy.transpose()?,
                answer_cache_seconds: answer_cache?,
                author_pointer: author_pointer?,
                compat_store: row.compat_store,
                compat_unchecked: row.compat_unchecked.parse()?,
                item_retention_days: item_retention.map_err(unreadable)?,
                content_retention_days: content_retention.map_err(unreadable)?,
                image_retention_days: image_retention.map_err(unreadable)?,
                webhook_retention_days: webhook_retention.map_err(unreadable)?,
                default_rule_group: row.default_rule_group_id.into(),
                rule_groups: row.rule_groups.into_iter().map(RuleGroupId::from).collect(),
            },
            closure: row.closure_id.map(ClosureId::from),
            closed_at: row.closed_at,
            created_at: row.created_at,
        })
    }
}
