//! Sites: list, create, read, change.

mod settings;

use api_common::{Code, Created, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time};
use domain::{
    id::{ClosureId, RuleGroupId, SiteId},
    image::ImageRetentionDays,
    media::{
        CompatUnchecked, ContentRetentionDays, ItemRetentionDays, OnFailure, StatusVocabulary,
    },
    metadata_pointer::MetadataPointer,
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    scope::Scope,
    webhook::WebhookRetentionDays,
};
use management::sites;
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use store::site::settings::ManagedSite;
use uuid::Uuid;

use self::settings::{NewSite, SiteChange};
use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Sites;

#[OpenApi(tag = "Tag::Sites")]
impl Sites {
    /// List sites
    ///
    /// Returns the oldest sites first. A team's token sees the sites of its team.
    #[oai(path = "/sites", method = "get", operation_id = "listSites")]
    async fn list_sites(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<Site>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let sites = sites::list(&caller, part.page()).await?;
        Ok(Json(part.list(sites, |site| site.id.as_uuid())))
    }

    /// Create a site
    ///
    /// The site's webhook secret is shown only in this answer. The site has no key yet: create one
    /// with `createSiteKey`.
    #[oai(path = "/sites", method = "post", operation_id = "createSite")]
    async fn create_site(
        &self,
        caller: Caller,
        request: JsonBody<NewSite>,
    ) -> Result<Created<IssuedSite>, Refusal> {
        let (team, settings) = request.value.parts();
        let issued = sites::create(&caller, team, &settings).await?;
        Ok(Created::at(
            format!("{PREFIX}/sites/{}", issued.site.id),
            issued,
        ))
    }

    /// Read a site
    #[oai(path = "/sites/:site_id", method = "get", operation_id = "getSite")]
    async fn get_site(
        &self,
        caller: Caller,
        /// The ID of the site.
        site_id: Path<SiteId>,
    ) -> Result<Json<Site>, Refusal> {
        let site = sites::get(&caller, site_id.0).await?;
        Ok(Json(site.into()))
    }

    /// Change a site
    ///
    /// The change applies to every submission that is answered after this request. A changed limit
    /// takes effect in the next minute at the latest.
    #[oai(
        path = "/sites/:site_id",
        method = "patch",
        operation_id = "updateSite"
    )]
    async fn update_site(
        &self,
        caller: Caller,
        /// The ID of the site.
        site_id: Path<SiteId>,
        request: JsonBody<SiteChange>,
    ) -> Result<Json<Site>, Refusal> {
        let edit = |settings| request.value.applied_to(settings);
        let site = sites::update(&caller, site_id.0, edit).await?;
        Ok(Json(site.into()))
    }
}

/// An application that submits media.
#[derive(Serialize, Schema)]
pub(crate) struct Site {
    /// The ID of the site.
    id: Uuid,
    /// The team that owns it.
    team_id: Uuid,
    /// The name of the site. Names are unique within a team.
    name: String,
    /// What happens to content that could not be checked and that no rule rejects: a person reviews
    /// it (`review`), or it is rejected (`reject`) or approved (`approve`).
    on_failure: Field<OnFailure>,
    /// How status queries show the status: as one of the four states (`state`), or as `pending` or
    /// `completed` with the result in `action` (`completed`).
    status_vocabulary: Field<StatusVocabulary>,
    /// The providers that analyse texts, in order of preference. The first available provider is
    /// asked. The next one is asked for the categories that the first could not score. `null` means
    /// the order that the operator configured.
    #[schema(nullable)]
    providers: Option<Vec<String>>,
    /// The policy, in words, for models that judge by one. `null` means the policy that the
    /// operator configured.
    #[schema(nullable)]
    policy: Option<Field<Policy>>,
    /// For how many seconds a provider's answer is reused for equal texts of this site. `null`
    /// means that every text is sent to the provider.
    #[schema(nullable)]
    answer_cache_seconds: Option<Field<AnswerCacheSeconds>>,
    /// Where the `metadata` of submissions has their author: a JSON pointer (RFC 6901). `null` means that items have no
    /// author. A change counts for items that are accepted later.
    #[schema(nullable)]
    author_pointer: Option<Field<MetadataPointer>>,
    /// Whether the endpoints for clients of OpenAI and Perspective keep the items that they judge. If not, an item is removed about
    /// 15 seconds after its verdict; there are no events and webhooks of it, and no person reviews it.
    compat_store: bool,
    /// What clients of OpenAI get for content of which something could not be checked: a flagged result, unless the site
    /// approved the item (`flag`), or an error with the code `not_checked` (`error`).
    compat_unchecked: Field<CompatUnchecked>,
    /// The most submissions that each site key can make in a UTC minute. `null` means the limit of
    /// the team's plan. The plan's limit applies in any case.
    #[schema(nullable)]
    submissions_per_minute: Option<Field<PerMinute>>,
    /// The most status queries that each site key can make in a UTC minute. `null` means the limit
    /// of the team's plan. The plan's limit applies in any case.
    #[schema(nullable)]
    status_queries_per_minute: Option<Field<PerMinute>>,
    /// For how many days items are kept after the last verdict, with everything that belongs to them. `null` means for
    /// ever. An item stays longer while its events are kept, while it waits for a person, and while it is a golden item.
    /// Statistics stay.
    #[schema(nullable)]
    item_retention_days: Option<Field<ItemRetentionDays>>,
    /// For how many days the content of items is kept after the last verdict: text, metadata, image and its URL, what
    /// providers said word for word, and people's notes. `null` means as long as the item. Scores and verdicts stay. It
    /// stays longer for the same reasons as an item.
    #[schema(nullable)]
    content_retention_days: Option<Field<ContentRetentionDays>>,
    /// For how many days image files are kept after the last verdict. What is known about the
    /// images stays.
    image_retention_days: Field<ImageRetentionDays>,
    /// For how many days events and their deliveries are kept. The days of a delivery count from
    /// its end.
    webhook_retention_days: Field<WebhookRetentionDays>,
    /// The rule group that judges if no other group does.
    default_rule_group_id: Uuid,
    /// The rule groups that together judge submissions that name no group, in this order. If there
    /// are none, the default group judges.
    rule_group_ids: Vec<Uuid>,
    /// The closure that closes the site, or has closed it. `null` while the site is open. From the start of the closure on, the
    /// site accepts no submissions and cannot be changed.
    #[schema(nullable)]
    closure_id: Option<Uuid>,
    /// Since when the site is closed for good. `null` before.
    #[schema(nullable)]
    closed_at: Option<Field<Time>>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<ManagedSite> for Site {
    fn from(site: ManagedSite) -> Self {
        let settings = site.settings;
        Self {
            id: site.id.as_uuid(),
            team_id: site.team.as_uuid(),
            name: settings.name,
            on_failure: Field(settings.on_failure),
            status_vocabulary: Field(settings.status_vocabulary),
            providers: settings.providers,
            policy: settings.policy.map(Field),
            answer_cache_seconds: settings.answer_cache_seconds.map(Field),
            author_pointer: settings.author_pointer.map(Field),
            compat_store: settings.compat_store,
            compat_unchecked: Field(settings.compat_unchecked),
            submissions_per_minute: settings.submissions_per_minute.map(Field),
            status_queries_per_minute: settings.status_queries_per_minute.map(Field),
            item_retention_days: settings.item_retention_days.map(Field),
            content_retention_days: settings.content_retention_days.map(Field),
            image_retention_days: Field(settings.image_retention_days),
            webhook_retention_days: Field(settings.webhook_retention_days),
            default_rule_group_id: settings.default_rule_group.as_uuid(),
            rule_group_ids: settings
                .rule_groups
                .into_iter()
                .map(RuleGroupId::as_uuid)
                .collect(),
            closure_id: site.closure.map(ClosureId::as_uuid),
            closed_at: site.closed_at.map(Field::from),
            created_at: site.created_at.into(),
        }
    }
}

/// A new site with its webhook secret.
#[derive(Serialize, Schema)]
pub(crate) struct IssuedSite {
    /// The secret that signs the site's webhooks. It is shown only here.
    webhook_secret: String,
    /// The site as later answers show it.
    #[serde(flatten)]
    site: Site,
}

impl From<sites::IssuedSite> for IssuedSite {
    fn from(issued: sites::IssuedSite) -> Self {
        Self {
            webhook_secret: issued.webhook_secret,
            site: issued.site.into(),
        }
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let site = json!({
        "id": example_values::SITE,
        "team_id": example_values::TEAM,
        "name": "Comments",
        "on_failure": "review",
        "status_vocabulary": "state",
        "providers": ["openai", "builtin"],
        "policy": null,
        "answer_cache_seconds": null,
        "author_pointer": "/user/id",
        "compat_store": true,
        "compat_unchecked": "flag",
        "submissions_per_minute": null,
        "status_queries_per_minute": 100,
        "item_retention_days": 365,
        "content_retention_days": 90,
        "image_retention_days": 30,
        "webhook_retention_days": 30,
        "default_rule_group_id": example_values::RULE_GROUP,
        "rule_group_ids": [],
        "closure_id": null,
        "closed_at": null,
        "created_at": example_values::CREATED_AT,
    });
    let mut issued = json!({
        "webhook_secret": "whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVYQU0=",
    });
    api_common::openapi::extend(&mut issued, "", site.clone());
    vec![
        Operation::new("listSites", Scope::SitesRead).answer(example_values::list(&site)),
        Operation::new("createSite", Scope::SitesWrite)
            .problems(&[Code::UnknownRuleGroup, Code::NameTaken, Code::LimitReached])
            .request(json!({
                "name": "Comments",
                "team_id": example_values::TEAM,
                "default_rule_group_id": example_values::RULE_GROUP,
                "status_queries_per_minute": 100,
            }))
            .answer(issued),
        Operation::new("getSite", Scope::SitesRead).answer(site.clone()),
        Operation::new("updateSite", Scope::SitesWrite)
            .problems(&[Code::UnknownRuleGroup, Code::NameTaken])
            .request(json!({
                "on_failure": "review",
                "policy": "Spoilers are spam.",
                "submissions_per_minute": null,
            }))
            .answer(site),
    ]
}
