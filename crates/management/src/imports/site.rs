//! The site of an archive.

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    id::{RuleGroupId, SiteId, TeamId, of_copy},
    media::{CompatUnchecked, OnFailure, StatusVocabulary},
    name::Name,
    scope::Scope,
};
use serde::Deserialize;
use serde_json::json;
use store::{
    closure, encryption,
    site::{self, settings::Settings},
};

use super::{Groups, names};
use crate::{
    Caller, Refused, Session, boxed, record,
    sites::{self, MOST_GROUPS, require_providers},
};

/// The site as the archive describes it.
#[derive(Clone, Debug, Deserialize)]
pub struct GivenSite {
    /// Its id there.
    pub id: SiteId,
    /// Its name.
    pub name: String,
    on_failure: String,
    status_vocabulary: String,
    providers: Option<Vec<String>>,
    policy: Option<String>,
    answer_cache_seconds: Option<i64>,
    author_pointer: Option<String>,
    /// Archives of older versions do not say these two.
    compat_store: Option<bool>,
    compat_unchecked: Option<String>,
    submissions_per_minute: Option<i64>,
    status_queries_per_minute: Option<i64>,
    item_retention_days: Option<i64>,
    content_retention_days: Option<i64>,
    image_retention_days: i64,
    webhook_retention_days: i64,
    /// The group that judges when no other does.
    pub default_rule_group_id: RuleGroupId,
    /// The groups that judge together.
    pub rule_group_ids: Vec<RuleGroupId>,
    created_at: DateTime<Utc>,
}

impl GivenSite {
    /// # Errors
    /// A setting has a value that this version does not have.
    fn settings(&self, groups: &Groups) -> Result<Settings, Refused> {
        fn wrong(name: &str) -> Refused {
            Refused::Invalid(
                format!("The site's setting `{name}` has a value that this version does not have.")
                    .into(),
            )
        }
        fn number<T: TryFrom<i64>>(given: Option<i64>, name: &str) -> Result<Option<T>, Refused> {
            given.map(T::try_from).transpose().map_err(|_| wrong(name))
        }
        fn text<T: TryFrom<String>>(
            given: Option<&String>,
            name: &str,
        ) -> Result<Option<T>, Refused> {
            let given = given.cloned().map(T::try_from);
            given.transpose().map_err(|_| wrong(name))
        }
        let here = |group: &RuleGroupId| {
            let found = groups.get(group).copied();
            found.ok_or_else(|| wrong("rule_group_ids"))
        };
        if self.name.parse::<Name>().is_err() {
            return Err(wrong("name"));
        }
        if self.rule_group_ids.len() > MOST_GROUPS {
            return Err(wrong("rule_group_ids"));
        }
        let on_failure: Option<OnFailure> = self.on_failure.parse().ok();
        let vocabulary: Option<StatusVocabulary> = self.status_vocabulary.parse().ok();
        let compat_unchecked = self.compat_unchecked.as_deref();
        let compat_unchecked = compat_unchecked.map_or(Ok(CompatUnchecked::Flag), str::parse);
        let (image, webhook) = (self.image_retention_days, self.webhook_retention_days);
        Ok(Settings {
            name: self.name.clone(),
            on_failure: on_failure.ok_or_else(|| wrong("on_failure"))?,
            status_vocabulary: vocabulary.ok_or_else(|| wrong("status_vocabulary"))?,
            providers: self.providers.clone(),
            policy: text(self.policy.as_ref(), "policy")?,
            answer_cache_seconds: number(self.answer_cache_seconds, "answer_cache_seconds")?,
            author_pointer: text(self.author_pointer.as_ref(), "author_pointer")?,
            compat_store: self.compat_store.unwrap_or(true),
            compat_unchecked: compat_unchecked.map_err(|_| wrong("compat_unchecked"))?,
            submissions_per_minute: number(self.submissions_per_minute, "submissions_per_minute")?,
            status_queries_per_minute: number(
                self.status_queries_per_minute,
                "status_queries_per_minute",
            )?,
            item_retention_days: number(self.item_retention_days, "item_retention_days")?,
            content_retention_days: number(self.content_retention_days, "content_retention_days")?,
            image_retention_days: number(Some(image), "image_retention_days")?
                .ok_or(Refused::Internal)?,
            webhook_retention_days: number(Some(webhook), "webhook_retention_days")?
                .ok_or(Refused::Internal)?,
            default_rule_group: here(&self.default_rule_group_id)?,
            rule_groups: self
                .rule_group_ids
                .iter()
                .map(here)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// The site that gets the items: `wanted`, which the team must have; or the archive's own, which is created if it is not there,
/// with a new webhook secret and without keys and endpoints. Returns whether it was created. A site that is there keeps its
/// settings.
///
/// # Errors
/// The caller may not do it; the team has no such site; there is no master key; a setting is not known here; the site
/// or the team is being closed.
#[boxed]
pub async fn site(
    caller: &Caller,
    team: TeamId,
    wanted: Option<SiteId>,
    given: &GivenSite,
    groups: &Groups,
) -> Result<(SiteId, bool), Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    session.named_team(Some(team)).await?;
    if let Some(wanted) = wanted {
        return match site::team_of(session.conn(), wanted).await? {
            Some(owner) if owner == team => {
                sites::require_open(&mut session, wanted).await?;
                Ok((wanted, false))
            }
            Some(_) | None => Err(Refused::field("site_id", "is no site of this team")),
        };
    }
    let (id, is_there) = home(&mut session, team, given.id).await?;
    if is_there {
        sites::require_open(&mut session, id).await?;
        return Ok((id, false));
    }
    if let Some(closing) = closure::of_team(session.conn(), team).await? {
        return Err(sites::is_closing("team", closing));
    }
    let mut settings = given.settings(groups)?;
    if require_providers(session.conn(), &settings).await.is_err() {
        // The operator's order.
        settings.providers = None;
    }
    let mut free = None;
    for name in names(&given.name) {
        if !site::is_named(session.conn(), team, &name).await? {
            free = Some(name);
            break;
        }
    }
    settings.name = free.ok_or(store::Error::NameTaken)?;
    let key = caller.management.master_key()?;
    // A secret that is sealed with the key of another database would be lost.
    encryption::check_master_key(session.conn(), key).await?;
    let created_at = given.created_at;
    site::import(session.conn(), key, (team, id), created_at, &settings).await?;
    let details = json!({ "imported": { "site_id": given.id, "name": settings.name } });
    record(session, Action::SiteCreate, team, id, details).await?;
    Ok((id, true))
}

/// The site's id here, and whether it is there.
async fn home(
    session: &mut Session,
    team: TeamId,
    site: SiteId,
) -> Result<(SiteId, bool), Refused> {
    match site::team_of(session.conn(), site).await? {
        None => Ok((site, false)),
        Some(owner) if owner == team => Ok((site, true)),
        Some(_) => {
            let copy = SiteId::from(of_copy(site.as_uuid(), team));
            let owner = site::team_of(session.conn(), copy).await?;
            Ok((copy, owner.is_some()))
        }
    }
}
