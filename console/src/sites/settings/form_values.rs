//! What the form of a site's settings shows and sends: texts, which become settings if they are valid.

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

use crate::page::{Form, Problems, Texts, stale_form};

/// The fields with one text each. Those of providers are apart.
const FIELDS: &[&str] = &[
    "name",
    "on_failure",
    "status_vocabulary",
    "policy",
    "answer_cache_seconds",
    "author_pointer",
    "compat_store",
    "compat_unchecked",
    "submissions_per_minute",
    "status_queries_per_minute",
    "item_retention_days",
    "content_retention_days",
    "image_retention_days",
    "webhook_retention_days",
    "default_rule_group_id",
];

/// The texts of the form.
pub(super) struct Values {
    texts: Texts,
    /// In the order of preference; none means the operator's order.
    pub(super) providers: Vec<String>,
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
        let cache = settings.answer_cache_seconds.map(AnswerCacheSeconds::get);
        let policy = settings.policy.clone().map(String::from);
        let author = settings.author_pointer.clone().map(String::from);
        let stored = if settings.compat_store { "yes" } else { "" };
        let items = settings.item_retention_days.map(ItemRetentionDays::get);
        let contents = settings
            .content_retention_days
            .map(ContentRetentionDays::get);
        let images = settings.image_retention_days.get();
        let webhooks = settings.webhook_retention_days.get();
        let queries = settings.status_queries_per_minute;
        let texts = Texts::stored([
            ("name", settings.name.clone()),
            ("on_failure", settings.on_failure.to_string()),
            ("status_vocabulary", settings.status_vocabulary.to_string()),
            ("policy", policy.unwrap_or_default()),
            ("answer_cache_seconds", number(cache)),
            ("author_pointer", author.unwrap_or_default()),
            ("compat_store", stored.to_owned()),
            ("compat_unchecked", settings.compat_unchecked.to_string()),
            (
                "submissions_per_minute",
                limit(settings.submissions_per_minute),
            ),
            ("status_queries_per_minute", limit(queries)),
            ("item_retention_days", number(items)),
            ("content_retention_days", number(contents)),
            ("image_retention_days", images.to_string()),
            ("webhook_retention_days", webhooks.to_string()),
            (
                "default_rule_group_id",
                settings.default_rule_group.to_string(),
            ),
        ]);
        Self {
            texts,
            providers: settings.providers.clone().unwrap_or_default(),
        }
    }

    pub(super) fn of_form(form: &Form) -> Self {
        let providers = (0..MOST_PROVIDERS).map(|place| {
            let provider = form.get(&format!("provider_{place}"));
            provider.trim().to_owned()
        });
        Self {
            // White space around these two is a part of them.
            texts: Texts::sent(form, FIELDS)
                .with("policy", form.get("policy"))
                .with("author_pointer", form.get("author_pointer")),
            providers: providers.filter(|name| !name.is_empty()).collect(),
        }
    }

    pub(super) fn get(&self, field: &str) -> &str {
        self.texts.get(field)
    }

    /// A digest of all of them.
    pub(super) fn seen(&self) -> String {
        let providers = self.providers.iter().map(String::as_str);
        stale_form::digest(self.texts.all().chain(providers))
    }

    /// The provider of each place, and empty texts for places that are free: there are as many as providers.
    pub(super) fn places(&self, known: usize) -> Vec<String> {
        let mut places = self.providers.clone();
        places.resize(known.clamp(places.len(), MOST_PROVIDERS), String::new());
        places
    }

    /// The settings. `Err`: all mistakes, each at its field.
    pub(super) fn parsed(&self) -> Result<Parsed, Problems> {
        let mut problems = Problems::default();
        let (wrong, texts) = (&mut problems, &self.texts);
        let parsed = (|| {
            let name = texts.must(wrong, "name");
            let on_failure = texts.one_of(wrong, "on_failure");
            let vocabulary = texts.one_of(wrong, "status_vocabulary");
            let policy = self.policy(wrong);
            let cache = texts.may(wrong, "answer_cache_seconds");
            let author = self.author(wrong);
            let unchecked = texts.one_of(wrong, "compat_unchecked");
            let submissions = texts.may(wrong, "submissions_per_minute");
            let queries = texts.may(wrong, "status_queries_per_minute");
            let items = texts.may(wrong, "item_retention_days");
            let contents = texts.may(wrong, "content_retention_days");
            let images = texts.must(wrong, "image_retention_days");
            let webhooks = texts.must(wrong, "webhook_retention_days");
            let group: Option<Uuid> = texts.one_of(wrong, "default_rule_group_id");
            Some(Parsed {
                name: name?,
                on_failure: on_failure?,
                status_vocabulary: vocabulary?,
                providers: (!self.providers.is_empty()).then(|| self.providers.clone()),
                policy: policy?,
                answer_cache_seconds: cache?,
                author_pointer: author?,
                compat_store: !texts.get("compat_store").is_empty(),
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
        let policy = self.get("policy");
        if policy.trim().is_empty() {
            return Some(None);
        }
        let policy = Policy::try_from(policy.to_owned());
        problems.kept("policy", policy).map(Some)
    }

    #[expect(clippy::option_option, reason = "no author is valid, too")]
    fn author(&self, problems: &mut Problems) -> Option<Option<MetadataPointer>> {
        let pointer = self.get("author_pointer");
        if pointer.is_empty() {
            return Some(None);
        }
        let pointer = MetadataPointer::try_from(pointer.to_owned());
        problems.kept("author_pointer", pointer).map(Some)
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
