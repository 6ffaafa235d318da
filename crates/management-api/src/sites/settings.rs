//! The fields of a new site, and the fields that can be changed later.

use api_common::{Field, Schema, given, or, or_null};
use domain::{
    id::{RuleGroupId, TeamId},
    image::ImageRetentionDays,
    media::{
        CompatUnchecked, ContentRetentionDays, ItemRetentionDays, OnFailure, StatusVocabulary,
    },
    metadata_pointer::MetadataPointer,
    name::Name,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    webhook::WebhookRetentionDays,
};
use serde::Deserialize;
use store::site::settings::Settings;

/// A site to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSite {
    /// The name of the site. No other site of the team can have the same name.
    name: Field<Name>,
    /// The team that will own it. If omitted, it is the team of the token. If an operator omits it,
    /// it is the team of the default rule group.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// The rule group that judges if no other group does. It must belong to the site's team.
    default_rule_group_id: Field<RuleGroupId>,
    /// The rule groups that together judge submissions that name no group, in this order. The
    /// default is none.
    #[serde(default)]
    #[schema(empty_by_default, max_items = 50)]
    rule_group_ids: Vec<Field<RuleGroupId>>,
    /// What happens to content that could not be checked. The default is `review`.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Field<OnFailure>>,
    /// How status queries show the status. The default is `state`.
    #[serde(default, deserialize_with = "given")]
    status_vocabulary: Option<Field<StatusVocabulary>>,
    /// The providers that analyse texts, in order of preference. `null` means the order that the
    /// operator configured.
    #[schema(nullable, min_items = 1, max_items = 20)]
    providers: Option<Vec<String>>,
    /// The policy, in words, for models that judge by one. `null` means the policy that the
    /// operator configured.
    #[schema(nullable)]
    policy: Option<Field<Policy>>,
    /// For how many seconds a provider's answer is reused for equal texts of this site. `null`
    /// means that every text is sent to the provider.
    #[schema(nullable)]
    answer_cache_seconds: Option<Field<AnswerCacheSeconds>>,
    /// Where the `metadata` of submissions has their author: a JSON pointer (RFC 6901) such as `/user/id`. Items that are
    /// accepted from then on have this text or number as their `author`, if it has 1 to 200 characters. `null` means that
    /// items have no author.
    #[schema(nullable)]
    author_pointer: Option<Field<MetadataPointer>>,
    /// Whether the endpoints for clients of OpenAI and Perspective keep the items that they judge. The default is `true`.
    #[serde(default, deserialize_with = "given")]
    compat_store: Option<bool>,
    /// What clients of OpenAI get for content of which something could not be checked. The default is `flag`.
    #[serde(default, deserialize_with = "given")]
    compat_unchecked: Option<Field<CompatUnchecked>>,
    /// The most submissions that each site key can make in a UTC minute. `null` means the limit of
    /// the team's plan.
    #[schema(nullable)]
    submissions_per_minute: Option<Field<PerMinute>>,
    /// The most status queries that each site key can make in a UTC minute. `null` means the limit
    /// of the team's plan.
    #[schema(nullable)]
    status_queries_per_minute: Option<Field<PerMinute>>,
    /// For how many days items are kept after the last verdict. `null` means for ever.
    #[schema(nullable)]
    item_retention_days: Option<Field<ItemRetentionDays>>,
    /// For how many days the content of items is kept after the last verdict. `null` means as long as the item.
    #[schema(nullable)]
    content_retention_days: Option<Field<ContentRetentionDays>>,
    /// For how many days image files are kept after the last verdict. The default is 30.
    #[serde(default, deserialize_with = "given")]
    image_retention_days: Option<Field<ImageRetentionDays>>,
    /// For how many days events and their deliveries are kept. The default is 30.
    #[serde(default, deserialize_with = "given")]
    webhook_retention_days: Option<Field<WebhookRetentionDays>>,
}

impl NewSite {
    /// The team that it names, and the settings.
    pub(super) fn parts(self) -> (Option<TeamId>, Settings) {
        let usual = Settings::named(self.name.0.into(), self.default_rule_group_id.0);
        let settings = Settings {
            on_failure: or(self.on_failure, usual.on_failure),
            status_vocabulary: or(self.status_vocabulary, usual.status_vocabulary),
            providers: self.providers,
            policy: self.policy.map(|policy| policy.0),
            answer_cache_seconds: self.answer_cache_seconds.map(|seconds| seconds.0),
            author_pointer: self.author_pointer.map(|pointer| pointer.0),
            compat_store: self.compat_store.unwrap_or(usual.compat_store),
            compat_unchecked: or(self.compat_unchecked, usual.compat_unchecked),
            submissions_per_minute: self.submissions_per_minute.map(|limit| limit.0),
            status_queries_per_minute: self.status_queries_per_minute.map(|limit| limit.0),
            item_retention_days: self.item_retention_days.map(|days| days.0),
            content_retention_days: self.content_retention_days.map(|days| days.0),
            image_retention_days: or(self.image_retention_days, usual.image_retention_days),
            webhook_retention_days: or(self.webhook_retention_days, usual.webhook_retention_days),
            rule_groups: plain(self.rule_group_ids),
            ..usual
        };
        (self.team_id.map(|team| team.0), settings)
    }
}

fn plain(groups: Vec<Field<RuleGroupId>>) -> Vec<RuleGroupId> {
    groups.into_iter().map(|group| group.0).collect()
}

/// Fields of a site to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "absent and null are two things")]
pub(crate) struct SiteChange {
    /// The name of the site. No other site of the team can have the same name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
    /// What happens to content that could not be checked.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Field<OnFailure>>,
    /// How status queries show the status.
    #[serde(default, deserialize_with = "given")]
    status_vocabulary: Option<Field<StatusVocabulary>>,
    /// The providers that analyse texts from now on, in order of preference. `null` means the order
    /// that the operator configured.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable, min_items = 1, max_items = 20)]
    providers: Option<Option<Vec<String>>>,
    /// The policy, in words, for models that judge by one. `null` means the policy that the
    /// operator configured.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    policy: Option<Option<Field<Policy>>>,
    /// For how many seconds a provider's answer is reused for equal texts of this site. `null`
    /// means that every text is sent to the provider; stored answers are removed.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    answer_cache_seconds: Option<Option<Field<AnswerCacheSeconds>>>,
    /// Where the `metadata` of submissions has their author: a JSON pointer (RFC 6901) such as `/user/id`. Items that are
    /// accepted from then on have this text or number as their `author`, if it has 1 to 200 characters. `null` means that
    /// new items have no author. Items that were accepted before keep what they have.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    author_pointer: Option<Option<Field<MetadataPointer>>>,
    /// Whether the endpoints for clients of OpenAI and Perspective keep the items that they judge from now on.
    #[serde(default, deserialize_with = "given")]
    compat_store: Option<bool>,
    /// What clients of OpenAI get for content of which something could not be checked.
    #[serde(default, deserialize_with = "given")]
    compat_unchecked: Option<Field<CompatUnchecked>>,
    /// The most submissions that each site key can make in a UTC minute. `null` means the limit of
    /// the team's plan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    submissions_per_minute: Option<Option<Field<PerMinute>>>,
    /// The most status queries that each site key can make in a UTC minute. `null` means the limit
    /// of the team's plan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    status_queries_per_minute: Option<Option<Field<PerMinute>>>,
    /// For how many days items are kept after the last verdict. `null` means for ever.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    item_retention_days: Option<Option<Field<ItemRetentionDays>>>,
    /// For how many days the content of items is kept after the last verdict. `null` means as long as the item.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable)]
    content_retention_days: Option<Option<Field<ContentRetentionDays>>>,
    /// For how many days image files are kept after the last verdict.
    #[serde(default, deserialize_with = "given")]
    image_retention_days: Option<Field<ImageRetentionDays>>,
    /// For how many days events and their deliveries are kept.
    #[serde(default, deserialize_with = "given")]
    webhook_retention_days: Option<Field<WebhookRetentionDays>>,
    /// The rule group that judges if no other group does. It must belong to the site's team.
    #[serde(default, deserialize_with = "given")]
    default_rule_group_id: Option<Field<RuleGroupId>>,
    /// The rule groups that together judge submissions from now on. This replaces the whole list.
    /// If it is empty, the default group judges.
    #[serde(default, deserialize_with = "given")]
    #[schema(max_items = 50)]
    rule_group_ids: Option<Vec<Field<RuleGroupId>>>,
}

impl SiteChange {
    pub(crate) fn applied_to(self, settings: Settings) -> Settings {
        Settings {
            name: self.name.map_or(settings.name, |name| name.0.into()),
            on_failure: or(self.on_failure, settings.on_failure),
            status_vocabulary: or(self.status_vocabulary, settings.status_vocabulary),
            providers: self.providers.unwrap_or(settings.providers),
            policy: or_null(self.policy, settings.policy),
            answer_cache_seconds: or_null(self.answer_cache_seconds, settings.answer_cache_seconds),
            author_pointer: or_null(self.author_pointer, settings.author_pointer),
            compat_store: self.compat_store.unwrap_or(settings.compat_store),
            compat_unchecked: or(self.compat_unchecked, settings.compat_unchecked),
            submissions_per_minute: or_null(
                self.submissions_per_minute,
                settings.submissions_per_minute,
            ),
            status_queries_per_minute: or_null(
                self.status_queries_per_minute,
                settings.status_queries_per_minute,
            ),
            item_retention_days: or_null(self.item_retention_days, settings.item_retention_days),
            content_retention_days: or_null(
                self.content_retention_days,
                settings.content_retention_days,
            ),
            image_retention_days: or(self.image_retention_days, settings.image_retention_days),
            webhook_retention_days: or(
                self.webhook_retention_days,
                settings.webhook_retention_days,
            ),
            default_rule_group: or(self.default_rule_group_id, settings.default_rule_group),
            rule_groups: self.rule_group_ids.map_or(settings.rule_groups, plain),
        }
    }
}
