//! Several things that are created together, in one transaction: a site with its default rule
//! group, and a tenant that is ready for use.

use domain::{
    id::{EndpointId, RuleGroupId, SiteId, TeamId},
    key::{ManagementToken, SiteKey},
    name::Name,
    rules::InputRules,
    scope::Scope,
    webhook::EndpointUrl,
};
use store::{rule_group::Group, site::settings::Settings};

use crate::{
    Caller, Change, Management, Refused, Session, boxed,
    endpoints::{self, NewEndpoint},
    rule_groups, site_keys,
    sites::{self, IssuedSite},
    teams,
    tokens::{self, NewToken},
    trial_pool::{Checked, Holder},
};

/// A site to create, with its default rule group.
#[derive(Debug)]
pub struct NewSite {
    /// The site's name.
    pub name: Name,
    /// The group's name.
    pub group: Name,
    /// The rules of the group.
    pub rules: InputRules,
}

/// A team to create, with a site.
#[derive(Debug)]
pub struct NewTenant {
    /// The team's name, and that of its token.
    pub name: Name,
    /// The site.
    pub site: NewSite,
    /// A webhook endpoint of the site, if it gets one.
    pub endpoint: Option<EndpointUrl>,
}

/// What an application needs to use a site.
#[derive(Debug)]
pub struct Access {
    /// The team.
    pub team: TeamId,
    /// The site.
    pub site: SiteId,
    /// Its default rule group.
    pub rule_group: RuleGroupId,
    /// A key for the site. It is shown once.
    pub key: SiteKey,
    /// A token of the team with every scope. It is shown once.
    pub token: ManagementToken,
    /// The webhook endpoint, if there is one.
    pub endpoint: Option<EndpointId>,
}

/// Creates a site and its default rule group.
///
/// # Errors
/// The caller may not do it; there is no such team; the rules do not compile or name hash lists that the team cannot use; a
/// name is taken; the plan allows no further site or group.
#[boxed]
pub async fn site(
    caller: &Caller,
    team: TeamId,
    new: NewSite,
) -> Result<(IssuedSite, Group), Refused> {
    let mut session = caller.read(Scope::SitesWrite).await?;
    session.require(Scope::RulesWrite)?;
    session.named_team(Some(team)).await?;
    session.end();
    let compiled = compiled(&caller.management, Some(team), new.rules).await?;

    let mut session = caller.change(Scope::SitesWrite).await?;
    session.require(Scope::RulesWrite)?;
    session.require_team(team)?;
    let names = (&new.name, &new.group);
    let (site, group, changes) =
        add(&caller.management, &mut session, team, names, &compiled).await?;
    session.commit_all(changes).await?;
    Ok((site, group))
}

/// Creates a team with a site, and everything that an application needs to use it. Only operators may do this.
///
/// # Errors
/// The caller may not do it; the rules do not compile; the endpoint would not be contacted.
#[boxed]
pub async fn tenant(caller: &Caller, new: NewTenant) -> Result<Access, Refused> {
    let session = caller.read(Scope::TeamsWrite).await?;
    session.require_operator()?;
    session.end();
    let compiled = compiled(&caller.management, None, new.site.rules).await?;

    let mut session = caller.change(Scope::TeamsWrite).await?;
    session.require(Scope::SitesWrite)?;
    session.require(Scope::RulesWrite)?;
    let (team, created) = teams::add(&mut session, &new.name, None).await?;
    let names = (&new.site.name, &new.site.group);
    let (issued, group, made) =
        add(&caller.management, &mut session, team.id, names, &compiled).await?;
    let mut changes = vec![created];
    changes.extend(made);
    let opened = Opened {
        team: team.id,
        site: issued.site.id,
        rule_group: group.id,
    };
    open(
        &caller.management,
        session,
        changes,
        opened,
        new.name,
        new.endpoint,
    )
    .await
}

/// Gives an application what it needs to use a site that exists: a new key, a new token, and an endpoint if it gets one. Older
/// ones keep working.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; the endpoint would not be contacted; the plan allows no
/// further key, token or endpoint.
#[boxed]
pub async fn access(
    caller: &Caller,
    site: SiteId,
    token: Name,
    endpoint: Option<EndpointUrl>,
) -> Result<Access, Refused> {
    let mut session = caller.change(Scope::SitesRead).await?;
    sites::require_open(&mut session, site).await?;
    let site = sites::find(&mut session, site).await?;
    let opened = Opened {
        team: site.team,
        site: site.id,
        rule_group: site.settings.default_rule_group,
    };
    open(
        &caller.management,
        session,
        Vec::new(),
        opened,
        token,
        endpoint,
    )
    .await
}

async fn compiled(
    management: &Management,
    holder: Holder,
    rules: InputRules,
) -> Result<Checked, Refused> {
    let rules = management.trial_pool.rules(holder, rules).await?;
    management.trial_pool.check(holder, rules).await
}

/// A site and its default group. The first name is that of the site.
async fn add(
    management: &Management,
    session: &mut Session,
    team: TeamId,
    (name, group): (&Name, &Name),
    compiled: &Checked,
) -> Result<(IssuedSite, Group, Vec<Change>), Refused> {
    let (group, group_made) =
        rule_groups::add(management, session, team, group, compiled, "").await?;
    let settings = Settings::named(name.as_str().to_owned(), group.id);
    let (site, site_made) = sites::add(management, session, team, &settings).await?;
    Ok((site, group, vec![group_made, site_made]))
}

/// A site that an application will use.
struct Opened {
    team: TeamId,
    site: SiteId,
    rule_group: RuleGroupId,
}

/// Adds a key, a token and an endpoint, and commits them together with the earlier changes.
async fn open(
    management: &Management,
    mut session: Session,
    mut changes: Vec<Change>,
    opened: Opened,
    token: Name,
    endpoint: Option<EndpointUrl>,
) -> Result<Access, Refused> {
    let Opened {
        team,
        site,
        rule_group,
    } = opened;
    session.require(Scope::KeysWrite)?;
    session.require(Scope::TokensWrite)?;
    let (key, made) = site_keys::add(&mut session, team, site).await?;
    changes.push(made);
    let token = NewToken {
        name: token,
        team: Some(team),
        scopes: Scope::ALL.to_vec(),
        expires_at: None,
    };
    let (token, made) = tokens::add(&mut session, &token).await?;
    changes.push(made);
    let endpoint = match endpoint {
        Some(url) => {
            session.require(Scope::WebhooksWrite)?;
            let new = NewEndpoint::at(url);
            let (endpoint, made) =
                endpoints::add(management, &mut session, team, site, new).await?;
            changes.push(made);
            Some(endpoint.id)
        }
        None => None,
    };
    session.commit_all(changes).await?;
    Ok(Access {
        team,
        site,
        rule_group,
        key: key.secret,
        token: token.secret,
        endpoint,
    })
}
