//! Sites: list, create, read, change.

mod settings;

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{RuleGroupId, SiteId, TeamId},
    image::ImageRetentionDays,
    media::{OnFailure, StatusVocabulary},
    plan::PerMinute,
    policy::{AnswerCacheSeconds, Policy},
    scope::Scope,
    webhook::WebhookRetentionDays,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::Serialize;
use serde_json::json;
use store::{
    rule_group, seal,
    site_settings::{self, ManagedSite},
    tenant,
};
use uuid::Uuid;

pub(super) use self::settings::MOST_GROUPS;
use self::settings::{NewSite, SiteChange, require_groups, require_providers, unknown_group};
use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    session::{Caller, Change, Session, created, difference},
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
        let mut session = management.read(&caller, Scope::SitesRead).await?;
        let part = Part::new(&limit, &cursor);
        let of = session.only_team();
        let sites = site_settings::list(session.conn(), of, part.page()).await?;
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
        let mut session = management.change(&caller, Scope::SitesWrite).await?;
        let new = request.value;
        let named = session.named_team(new.team_id.as_deref().copied()).await?;
        let settings = new.settings();
        let team = match named {
            Some(team) => Some(team),
            None => rule_group::team_of(session.conn(), settings.default_rule_group).await?,
        };
        let team = team.ok_or_else(|| unknown_group("default_rule_group_id"))?;
        require_groups(session.conn(), team, &settings).await?;
        require_providers(session.conn(), &settings).await?;

        let key = &management.master_key;
        let group = settings.default_rule_group;
        let conn = session.conn();
        // A secret that is sealed with a key that is not this database's would be lost.
        seal::check_master_key(conn, key).await?;
        let (id, secret) = tenant::create_site(conn, key, team, &settings.name, group).await?;
        site_settings::change(conn, id, &settings).await?;
        let site = site_settings::find(conn, None, id).await?;
        let site = Site::from(site.ok_or_else(unknown)?);
        session
            .commit(Change {
                action: Action::SiteCreate,
                team: Some(team),
                target: site.id,
                details: created(&site),
            })
            .await?;
        Ok(Created {
            location: format!("{PREFIX}/sites/{}", site.id),
            value: IssuedSite {
                webhook_secret: secret.expose().to_owned(),
                site,
            },
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
        let mut session = management.read(&caller, Scope::SitesRead).await?;
        let of = session.only_team();
        let site = site_settings::find(session.conn(), of, site_id.0).await?;
        Ok(Json(site.ok_or_else(unknown)?.into()))
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
        let mut session = management.change(&caller, Scope::SitesWrite).await?;
        let of = session.only_team();
        let conn = session.conn();
        let before = site_settings::lock(conn, of, site_id.0).await?;
        let before = before.ok_or_else(unknown)?;
        let team = before.team;
        let settings = request.value.applied_to(before.settings.clone());
        require_groups(conn, team, &settings).await?;
        // What was configured once may stand.
        if settings.providers != before.settings.providers {
            require_providers(conn, &settings).await?;
        }
        site_settings::change(conn, before.id, &settings).await?;
        // The groups come back in their order, and each once.
        let after = site_settings::find(conn, of, before.id).await?;
        let (before, after) = (Site::from(before), Site::from(after.ok_or_else(unknown)?));
        if let Some(details) = difference(&before, &after) {
            session
                .commit(Change {
                    action: Action::SiteUpdate,
                    team: Some(team),
                    target: after.id,
                    details,
                })
                .await?;
        }
        Ok(Json(after))
    }
}

fn unknown() -> Refusal {
    Refusal::not_found("site")
}

/// The site's team; a site that the caller may not know of is refused as one that does not exist.
pub(super) async fn require_site(session: &mut Session, site: SiteId) -> Result<TeamId, Refusal> {
    let team = tenant::team_of_site(session.conn(), site).await?;
    team.filter(|team| session.require_team(*team).is_ok())
        .ok_or_else(unknown)
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
