//! Sites: list, create, read, change.

mod settings;

use std::sync::Arc;

use domain::{
    id::{RuleGroupId, SiteId},
    image::ImageRetentionDays,
    media::{OnFailure, StatusVocabulary},
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    scope::Scope,
    webhook::WebhookRetentionDays,
};
use management::{Management, sites};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use store::site::settings::ManagedSite;
use uuid::Uuid;

use self::settings::{NewSite, SiteChange};
use super::{
    PREFIX, Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
};
use crate::{
    answer::{Created, Json},
    member::{Member, Time},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// An application that submits media.
#[derive(Serialize, Object)]
pub(super) struct Site {
    /// The site.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// What it is called; unique in its team.
    name: String,
    /// What happens to content that could not be checked and that no rule rejects: a person looks at it (`review`), or it
    /// is rejected or approved.
    on_failure: Member<OnFailure>,
    /// How status queries spell the status: as one of the four states (`state`), or as `pending` or `completed`, with the
    /// outcome in `action` (`completed`).
    status_vocabulary: Member<StatusVocabulary>,
    /// The providers that texts go to, in the order of preference: the first one that is available is asked, and the next
    /// one for what it could not say. Null is the order in which the operator configured them.
    #[oai(nullable)]
    providers: Option<Vec<String>>,
    /// What models that judge by a policy in words are told; null is what the operator configured.
    #[oai(nullable)]
    policy: Option<Member<Policy>>,
    /// For how many seconds a provider's answer to a text holds for equal texts of this site, so that these are not shown to it; null:
    /// every text is shown to it.
    #[oai(nullable)]
    answer_cache_seconds: Option<Member<AnswerCacheSeconds>>,
    /// Submissions that each site key may make in a UTC minute; null is what the team's plan allows. More than that is never
    /// allowed.
    #[oai(nullable)]
    submissions_per_minute: Option<Member<PerMinute>>,
    /// Status queries that each site key may make in a UTC minute; likewise.
    #[oai(nullable)]
    status_queries_per_minute: Option<Member<PerMinute>>,
    /// For how many days files of images are kept after the last verdict. What is known of them stays.
    image_retention_days: Member<ImageRetentionDays>,
    /// For how many days events are kept, and what became of them at the webhook endpoints, counted from its end.
    webhook_retention_days: Member<WebhookRetentionDays>,
    /// The rule group that judges when no other does.
    default_rule_group_id: Uuid,
    /// The rule groups that judge together submissions that name none, in their order. Without any, the default group does.
    rule_group_ids: Vec<Uuid>,
    /// When it was created.
    created_at: Member<Time>,
}

impl From<ManagedSite> for Site {
    fn from(site: ManagedSite) -> Self {
        let settings = site.settings;
        Self {
            id: site.id.as_uuid(),
            team_id: site.team.as_uuid(),
            name: settings.name,
            on_failure: Member(settings.on_failure),
            status_vocabulary: Member(settings.status_vocabulary),
            providers: settings.providers,
            policy: settings.policy.map(Member),
            answer_cache_seconds: settings.answer_cache_seconds.map(Member),
            submissions_per_minute: settings.submissions_per_minute.map(Member),
            status_queries_per_minute: settings.status_queries_per_minute.map(Member),
            image_retention_days: Member(settings.image_retention_days),
            webhook_retention_days: Member(settings.webhook_retention_days),
            default_rule_group_id: settings.default_rule_group.as_uuid(),
            rule_group_ids: settings
                .rule_groups
                .into_iter()
                .map(RuleGroupId::as_uuid)
                .collect(),
            created_at: site.created_at.into(),
        }
    }
}

/// A new site, with its webhook secret.
#[derive(Serialize, Object)]
pub(super) struct IssuedSite {
    /// What signs the site's webhooks. It is shown here and never again.
    webhook_secret: String,
    /// What is known of it from now on.
    #[serde(flatten)]
    #[oai(flatten)]
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

pub(crate) struct Sites;

#[OpenApi(tag = "Tag::Sites")]
impl Sites {
    /// List sites
    ///
    /// The oldest first. A team's token sees those of its team.
    #[oai(path = "/sites", method = "get", operation_id = "listSites")]
    async fn list_sites(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<Site>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let sites = sites::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(sites, |site| site.id.as_uuid())))
    }

    /// Create a site
    ///
    /// The answer shows the webhook secret of the site, once. The site has no key yet.
    #[oai(path = "/sites", method = "post", operation_id = "createSite")]
    async fn create_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewSite>,
    ) -> Result<Created<IssuedSite>, Refusal> {
        let (team, settings) = request.value.parts();
        let issued = sites::create(&management, &caller, team, &settings).await?;
        Ok(Created {
            location: format!("{PREFIX}/sites/{}", issued.site.id),
            value: issued.into(),
        })
    }

    /// Read a site
    #[oai(path = "/sites/:site_id", method = "get", operation_id = "getSite")]
    async fn get_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
    ) -> Result<Json<Site>, Refusal> {
        let site = sites::get(&management, &caller, site_id.0).await?;
        Ok(Json(site.into()))
    }

    /// Change a site
    ///
    /// The change holds at once, for every submission that is answered after this request; a limit from the next minute on
    /// at the latest.
    #[oai(
        path = "/sites/:site_id",
        method = "patch",
        operation_id = "updateSite"
    )]
    async fn update_site(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The site.
        site_id: Path<SiteId>,
        request: JsonBody<SiteChange>,
    ) -> Result<Json<Site>, Refusal> {
        let edit = |settings| request.value.applied_to(settings);
        let site = sites::update(&management, &caller, site_id.0, edit).await?;
        Ok(Json(site.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let site = json!({
        "id": example::SITE,
        "team_id": example::TEAM,
        "name": "Comments",
        "on_failure": "review",
        "status_vocabulary": "state",
        "providers": ["openai", "builtin"],
        "policy": null,
        "answer_cache_seconds": null,
        "submissions_per_minute": null,
        "status_queries_per_minute": 100,
        "image_retention_days": 30,
        "webhook_retention_days": 30,
        "default_rule_group_id": example::RULE_GROUP,
        "rule_group_ids": [],
        "created_at": example::CREATED_AT,
    });
    let mut issued = json!({
        "webhook_secret": "whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVYQU0=",
    });
    crate::openapi::extend(&mut issued, "", site.clone());
    vec![
        Operation {
            answer: Some(example::list(&site)),
            ..Operation::new("listSites", Scope::SitesRead)
        },
        Operation {
            problems: &[Code::UnknownRuleGroup, Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Comments",
                "team_id": example::TEAM,
                "default_rule_group_id": example::RULE_GROUP,
                "status_queries_per_minute": 100,
            })),
            answer: Some(issued),
            ..Operation::new("createSite", Scope::SitesWrite)
        },
        Operation {
            answer: Some(site.clone()),
            ..Operation::new("getSite", Scope::SitesRead)
        },
        Operation {
            problems: &[Code::UnknownRuleGroup, Code::NameTaken],
            request: Some(json!({
                "on_failure": "review",
                "policy": "Spoilers are spam.",
                "submissions_per_minute": null,
            })),
            answer: Some(site),
            ..Operation::new("updateSite", Scope::SitesWrite)
        },
    ]
}
