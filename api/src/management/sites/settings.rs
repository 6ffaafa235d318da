//! What a site is created with, and what of it can be changed.

use domain::{
    id::{RuleGroupId, TeamId},
    image::ImageRetentionDays,
    media::{OnFailure, StatusVocabulary},
    name::Name,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    webhook::WebhookRetentionDays,
};
use poem_openapi::Object;
use serde::Deserialize;
use store::site::settings::Settings;

use crate::member::{Member, given};

/// A site to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewSite {
    /// What it is to be called; no other site of the team may be called so.
    name: Member<Name>,
    /// Its team. Without, it is the caller's own; for an operator it is that of the default rule group.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Member<TeamId>>,
    /// The rule group that judges when no other does; one of the team's.
    default_rule_group_id: Member<RuleGroupId>,
    /// The rule groups that judge together; none if nothing is said.
    #[serde(default)]
    #[oai(default, validator(max_items = 50))]
    rule_group_ids: Vec<Member<RuleGroupId>>,
    /// What happens to content that could not be checked; `review` if nothing is said.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Member<OnFailure>>,
    /// How status queries spell the status; `state` if nothing is said.
    #[serde(default, deserialize_with = "given")]
    status_vocabulary: Option<Member<StatusVocabulary>>,
    /// The providers that texts go to, in the order of preference; null is the operator's order.
    #[oai(nullable, validator(min_items = 1, max_items = 20))]
    providers: Option<Vec<String>>,
    /// What models that judge by a policy in words are told; null is what the operator configured.
    #[oai(nullable)]
    policy: Option<Member<Policy>>,
    /// For how many seconds a provider's answer to a text holds for equal texts of this site; null: every text is shown to it.
    #[oai(nullable)]
    answer_cache_seconds: Option<Member<AnswerCacheSeconds>>,
    /// Submissions that each site key may make in a UTC minute; null is what the team's plan allows.
    #[oai(nullable)]
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute; null is what the team's plan allows.
    #[oai(nullable)]
    status_queries_per_minute: Option<Member<PerMinute>>,
    /// For how many days files of images are kept after the last verdict; 30 if nothing is said.
    #[serde(default, deserialize_with = "given")]
    image_retention_days: Option<Member<ImageRetentionDays>>,
    /// For how many days events are kept, and what became of them at the webhook endpoints; 30 if nothing is said.
    #[serde(default, deserialize_with = "given")]
    webhook_retention_days: Option<Member<WebhookRetentionDays>>,
}

impl NewSite {
    /// The team that it names, and the settings.
    pub(super) fn parts(self) -> (Option<TeamId>, Settings) {
        let usual = Settings::named(self.name.0.into(), self.default_rule_group_id.0);
        let settings = Settings {
            on_failure: self.on_failure.map_or(usual.on_failure, |wish| wish.0),
            status_vocabulary: self
                .status_vocabulary
                .map_or(usual.status_vocabulary, |vocabulary| vocabulary.0),
            providers: self.providers,
            policy: self.policy.map(|policy| policy.0),
            answer_cache_seconds: self.answer_cache_seconds.map(|seconds| seconds.0),
            submissions_per_minute: self.submissions_per_minute.map(|limit| limit.0),
            status_queries_per_minute: self.status_queries_per_minute.map(|limit| limit.0),
            image_retention_days: self
                .image_retention_days
                .map_or(usual.image_retention_days, |days| days.0),
            webhook_retention_days: self
                .webhook_retention_days
                .map_or(usual.webhook_retention_days, |days| days.0),
            rule_groups: plain(self.rule_group_ids),
            ..usual
        };
        (self.team_id.map(|team| team.0), settings)
    }
}

/// Fields to change. Omitted fields keep their value.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
    /// What happens to content that could not be checked.
    #[serde(default, deserialize_with = "given")]
    on_failure: Option<Member<OnFailure>>,
    /// How status queries spell the status.
    #[serde(default, deserialize_with = "given")]
    status_vocabulary: Option<Member<StatusVocabulary>>,
    /// The providers that texts go to from now on, in the order of preference; null is the operator's order.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable, validator(min_items = 1, max_items = 20))]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    providers: Option<Option<Vec<String>>>,
    /// What models that judge by a policy in words are told; null is what the operator configured.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    policy: Option<Option<Member<Policy>>>,
    /// For how many seconds a provider's answer to a text holds for equal texts of this site; null: every text is shown to it, and the
    /// answers that are kept are removed.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    answer_cache_seconds: Option<Option<Member<AnswerCacheSeconds>>>,
    /// Submissions that each site key may make in a UTC minute; null is what the team's plan allows.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    submissions_per_minute: Option<Option<Member<PerMinute>>>,
    /// Status queries that each site key may make in a UTC minute; null is what the team's plan allows.
    #[serde(default, deserialize_with = "given")]
    #[oai(nullable)]
    #[expect(clippy::option_option, reason = "absent and null are two things")]
    status_queries_per_minute: Option<Option<Member<PerMinute>>>,
    /// For how many days files of images are kept after the last verdict.
    #[serde(default, deserialize_with = "given")]
    image_retention_days: Option<Member<ImageRetentionDays>>,
    /// For how many days events are kept, and what became of them at the webhook endpoints.
    #[serde(default, deserialize_with = "given")]
    webhook_retention_days: Option<Member<WebhookRetentionDays>>,
    /// The rule group that judges when no other does; one of the team's.
    #[serde(default, deserialize_with = "given")]
    default_rule_group_id: Option<Member<RuleGroupId>>,
    /// All rule groups that judge together from now on; with an empty list the default group does.
    #[serde(default, deserialize_with = "given")]
    #[oai(validator(max_items = 50))]
    rule_group_ids: Option<Vec<Member<RuleGroupId>>>,
}

impl SiteChange {
    pub(super) fn applied_to(self, settings: Settings) -> Settings {
        let plain_limit = |limit: Option<Member<PerMinute>>| limit.map(|limit| limit.0);
        Settings {
            name: self.name.map_or(settings.name, |name| name.0.into()),
            on_failure: self.on_failure.map_or(settings.on_failure, |wish| wish.0),
            status_vocabulary: self
                .status_vocabulary
                .map_or(settings.status_vocabulary, |vocabulary| vocabulary.0),
            providers: self.providers.unwrap_or(settings.providers),
            policy: self
                .policy
                .map_or(settings.policy, |policy| policy.map(|policy| policy.0)),
            answer_cache_seconds: self
                .answer_cache_seconds
                .map_or(settings.answer_cache_seconds, |seconds| {
                    seconds.map(|seconds| seconds.0)
                }),
            submissions_per_minute: self
                .submissions_per_minute
                .map_or(settings.submissions_per_minute, plain_limit),
            status_queries_per_minute: self
                .status_queries_per_minute
                .map_or(settings.status_queries_per_minute, plain_limit),
            image_retention_days: self
                .image_retention_days
                .map_or(settings.image_retention_days, |days| days.0),
            webhook_retention_days: self
                .webhook_retention_days
                .map_or(settings.webhook_retention_days, |days| days.0),
            default_rule_group: self
                .default_rule_group_id
                .map_or(settings.default_rule_group, |group| group.0),
            rule_groups: self.rule_group_ids.map_or(settings.rule_groups, plain),
        }
    }
}

fn plain(groups: Vec<Member<RuleGroupId>>) -> Vec<RuleGroupId> {
    groups.into_iter().map(|group| group.0).collect()
}
