//! What the form of a site's settings shows and sends: texts, which become settings if they are valid.

use std::{fmt::Display, str::FromStr};

use domain::{
    id::RuleGroupId,
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
use management::sites::{MOST_PROVIDERS, Settings};
use uuid::Uuid;

use crate::{form::Form, problems::Problems, stale_form};

/// The texts of the form.
pub(in crate::sites) struct Values {
    pub(super) name: String,
    pub(super) on_failure: String,
    pub(super) status_vocabulary: String,
    /// In the order of preference; none means the operator's order.
    pub(super) providers: Vec<String>,
    pub(super) policy: String,
    pub(super) answer_cache_seconds: String,
    pub(super) author_pointer: String,
    /// `yes`, or nothing.
    pub(super) compat_store: String,
    pub(super) compat_unchecked: String,
    pub(super) submissions_per_minute: String,
    pub(super) status_queries_per_minute: String,
    pub(super) item_retention_days: String,
    pub(super) content_retention_days: String,
    pub(super) image_retention_days: String,
    pub(super) webhook_retention_days: String,
    pub(super) default_rule_group_id: String,
}

/// The settings that the form changes.
pub(super) struct Parsed {
    name: Name,
    on_failure: OnFailure,
    status_vocabulary: StatusVocabulary,
    providers: Option<Vec<String>>,
    policy: Option<Policy>,
    answer_cache_seconds: Option<AnswerCacheSeconds>,
    author_pointer: Option<MetadataPointer>,
    compat_store: bool,
    compat_unchecked: CompatUnchecked,
    submissions_per_minute: Option<PerMinute>,
    status_queries_per_minute: Option<PerMinute>,
    item_retention_days: Option<ItemRetentionDays>,
    content_retention_days: Option<ContentRetentionDays>,
    image_retention_days: ImageRetentionDays,
    webhook_retention_days: WebhookRetentionDays,
    default_rule_group: RuleGroupId,
}

impl Values {
    pub(super) fn of_settings(settings: &Settings) -> Self {
        let limit = |limit: Option<PerMinute>| number(limit.map(PerMinute::get));
        Self {
            name: settings.name.clone(),
            on_failure: settings.on_failure.to_string(),
            status_vocabulary: settings.status_vocabulary.to_string(),
            providers: settings.providers.clone().unwrap_or_default(),
            policy: settings
                .policy
                .clone()
                .map(String::from)
                .unwrap_or_default(),
            answer_cache_seconds: number(
                settings.answer_cache_seconds.map(AnswerCacheSeconds::get),
            ),
            author_pointer: settings
                .author_pointer
                .clone()
                .map(String::from)
                .unwrap_or_default(),
            compat_store: if settings.compat_store { "yes" } else { "" }.to_owned(),
            compat_unchecked: settings.compat_unchecked.to_string(),
            submissions_per_minute: limit(settings.submissions_per_minute),
            status_queries_per_minute: limit(settings.status_queries_per_minute),
            item_retention_days: number(settings.item_retention_days.map(ItemRetentionDays::get)),
            content_retention_days: number(
                settings
                    .content_retention_days
                    .map(ContentRetentionDays::get),
            ),
            image_retention_days: settings.image_retention_days.get().to_string(),
            webhook_retention_days: settings.webhook_retention_days.get().to_string(),
            default_rule_group_id: settings.default_rule_group.to_string(),
        }
    }

    pub(super) fn of_form(form: &Form) -> Self {
        let text = |name: &str| form.get(name).trim().to_owned();
        let providers = (0..MOST_PROVIDERS).map(|place| text(&format!("provider_{place}")));
        Self {
            name: text("name"),
            on_failure: text("on_failure"),
            status_vocabulary: text("status_vocabulary"),
            providers: providers.filter(|name| !name.is_empty()).collect(),
            policy: form.get("policy").to_owned(),
            answer_cache_seconds: text("answer_cache_seconds"),
            author_pointer: form.get("author_pointer").to_owned(),
            compat_store: text("compat_store"),
            compat_unchecked: text("compat_unchecked"),
            submissions_per_minute: text("submissions_per_minute"),
            status_queries_per_minute: text("status_queries_per_minute"),
            item_retention_days: text("item_retention_days"),
            content_retention_days: text("content_retention_days"),
            image_retention_days: text("image_retention_days"),
            webhook_retention_days: text("webhook_retention_days"),
            default_rule_group_id: text("default_rule_group_id"),
        }
    }

    /// A digest of all of them.
    pub(super) fn seen(&self) -> String {
        let Self {
            name,
            on_failure,
            status_vocabulary,
            providers,
            policy,
            answer_cache_seconds,
            author_pointer,
            compat_store,
            compat_unchecked,
            submissions_per_minute,
            status_queries_per_minute,
            item_retention_days,
            content_retention_days,
            image_retention_days,
            webhook_retention_days,
            default_rule_group_id,
        } = self;
        let single = [
            name,
            on_failure,
            status_vocabulary,
            policy,
            answer_cache_seconds,
            author_pointer,
            compat_store,
            compat_unchecked,
            submissions_per_minute,
            status_queries_per_minute,
            item_retention_days,
            content_retention_days,
            image_retention_days,
            webhook_retention_days,
            default_rule_group_id,
        ];
        stale_form::digest(single.into_iter().chain(providers).map(String::as_str))
    }

    /// The provider of each place, and empty texts for places that are free: there are as many as providers.
    pub(super) fn places(&self, known: usize) -> Vec<String> {
        let mut places = self.providers.clone();
        places.resize(known.clamp(places.len(), MOST_PROVIDERS), String::new());
        places
    }

    /// The settings.
    ///
    /// # Errors
    /// All mistakes, each at its field.
    pub(super) fn parsed(&self) -> Result<Parsed, Problems> {
        let mut problems = Problems::default();
        let wrong = &mut problems;
        let parsed = (|| {
            let name = must(wrong, "name", &self.name);
            let on_failure = one_of(wrong, "on_failure", &self.on_failure);
            let vocabulary = one_of(wrong, "status_vocabulary", &self.status_vocabulary);
            let policy = self.policy(wrong);
            let cache = may(wrong, "answer_cache_seconds", &self.answer_cache_seconds);
            let author = self.author(wrong);
            let unchecked = one_of(wrong, "compat_unchecked", &self.compat_unchecked);
            let submissions = may(
                wrong,
                "submissions_per_minute",
                &self.submissions_per_minute,
            );
            let queries = may(
                wrong,
                "status_queries_per_minute",
                &self.status_queries_per_minute,
            );
            let items = may(wrong, "item_retention_days", &self.item_retention_days);
            let contents = may(
                wrong,
                "content_retention_days",
                &self.content_retention_days,
            );
            let images = must(wrong, "image_retention_days", &self.image_retention_days);
            let webhooks = must(
                wrong,
                "webhook_retention_days",
                &self.webhook_retention_days,
            );
            let group: Option<Uuid> =
                one_of(wrong, "default_rule_group_id", &self.default_rule_group_id);
            Some(Parsed {
                name: name?,
                on_failure: on_failure?,
                status_vocabulary: vocabulary?,
                providers: (!self.providers.is_empty()).then(|| self.providers.clone()),
                policy: policy?,
                answer_cache_seconds: cache?,
                author_pointer: author?,
                compat_store: !self.compat_store.is_empty(),
                compat_unchecked: unchecked?,
                submissions_per_minute: submissions?,
                status_queries_per_minute: queries?,
                item_retention_days: items?,
                content_retention_days: contents?,
                image_retention_days: images?,
                webhook_retention_days: webhooks?,
                default_rule_group: group?.into(),
            })
        })();
        parsed.ok_or(problems)
    }

    #[expect(clippy::option_option, reason = "no policy is valid, too")]
    fn policy(&self, problems: &mut Problems) -> Option<Option<Policy>> {
        if self.policy.trim().is_empty() {
            return Some(None);
        }
        kept(problems, "policy", Policy::try_from(self.policy.clone())).map(Some)
    }

    #[expect(clippy::option_option, reason = "no author is valid, too")]
    fn author(&self, problems: &mut Problems) -> Option<Option<MetadataPointer>> {
        if self.author_pointer.is_empty() {
            return Some(None);
        }
        let pointer = MetadataPointer::try_from(self.author_pointer.clone());
        kept(problems, "author_pointer", pointer).map(Some)
    }
}

impl Parsed {
    /// What the form does not show stays.
    pub(super) fn applied_to(self, settings: Settings) -> Settings {
        Settings {
            name: self.name.into(),
            on_failure: self.on_failure,
            status_vocabulary: self.status_vocabulary,
            providers: self.providers,
            policy: self.policy,
            answer_cache_seconds: self.answer_cache_seconds,
            author_pointer: self.author_pointer,
            compat_store: self.compat_store,
            compat_unchecked: self.compat_unchecked,
            submissions_per_minute: self.submissions_per_minute,
            status_queries_per_minute: self.status_queries_per_minute,
            item_retention_days: self.item_retention_days,
            content_retention_days: self.content_retention_days,
            image_retention_days: self.image_retention_days,
            webhook_retention_days: self.webhook_retention_days,
            default_rule_group: self.default_rule_group,
            ..settings
        }
    }
}

fn number(number: Option<i64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

/// A value that must be given.
fn must<T: FromStr>(problems: &mut Problems, field: &str, text: &str) -> Option<T>
where
    T::Err: Display,
{
    kept(problems, field, text.parse())
}

/// A value that may be missing.
#[expect(clippy::option_option, reason = "no value is valid, too")]
fn may<T: FromStr>(problems: &mut Problems, field: &str, text: &str) -> Option<Option<T>>
where
    T::Err: Display,
{
    if text.is_empty() {
        return Some(None);
    }
    must(problems, field, text).map(Some)
}

/// A value that is chosen from a list.
fn one_of<T: FromStr>(problems: &mut Problems, field: &str, text: &str) -> Option<T> {
    let chosen = text.parse().map_err(|_| "must be one of the choices");
    kept(problems, field, chosen)
}

fn kept<T, E: Display>(problems: &mut Problems, field: &str, parsed: Result<T, E>) -> Option<T> {
    parsed
        .map_err(|wrong| problems.add(field, wrong.to_string()))
        .ok()
}
