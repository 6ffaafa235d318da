//! Sites: list, create, read, change.

use domain::{
    audit::Action,
    id::{SiteId, TeamId},
    scope::Scope,
};
use store::{
    PgConnection,
    closure::{self, Closing},
    encryption, provider, rule_group, site,
};
pub use store::{
    media::{Content, RetentionPreview},
    page::Page,
    site::{
        readiness::{Counts, Readiness},
        settings::{ManagedSite, Settings},
    },
};

use crate::{
    Caller, Change, Conflict, FieldFault, Management, Noun, Outdated, Refused, Session, boxed,
    created, difference, record,
};

/// A site that was just created.
#[derive(Debug)]
pub struct IssuedSite {
    /// The site.
    pub site: ManagedSite,
    /// Signs its webhooks. It is shown once.
    pub webhook_secret: String,
}

/// Sites within the caller's reach, the oldest first.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn list(caller: &Caller, page: Page) -> Result<Vec<ManagedSite>, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    let reach = session.reach();
    Ok(site::settings::list(session.conn(), reach, page).await?)
}

/// A site.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn get(caller: &Caller, site: SiteId) -> Result<ManagedSite, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    find(&mut session, site).await
}

/// Creates a site without a key. If no team is named, it belongs to the team of the caller; for an
/// operator, to the team of the default rule group.
///
/// # Errors
/// The caller may not do it; the team, a rule group or a provider does not exist; the name is taken; the plan allows no
/// further site; the team is being closed.
#[boxed]
pub async fn create(
    caller: &Caller,
    team: Option<TeamId>,
    settings: &Settings,
) -> Result<IssuedSite, Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    let group = settings.default_rule_group;
    let team = match session.named_team(team).await? {
        Some(team) => Some(team),
        None => rule_group::team_of(session.conn(), group).await?,
    };
    let team = team.ok_or_else(|| unknown_group("default_rule_group_id"))?;
    let (issued, change) = add(&caller.management, &mut session, team, settings).await?;
    session.commit(change).await?;
    Ok(issued)
}

/// Creates a site of this team, in a session that has the scope for it.
pub(crate) async fn add(
    management: &Management,
    session: &mut Session,
    team: TeamId,
    settings: &Settings,
) -> Result<(IssuedSite, Change), Refused> {
    let group = settings.default_rule_group;
    require_groups(session.conn(), team, settings).await?;
    require_providers(session.conn(), settings).await?;

    let (conn, key) = (session.conn(), management.master_key()?);
    // A secret that is sealed with the key of another database would be lost.
    encryption::check_master_key(conn, key).await?;
    // The team stays locked, so nobody closes it meanwhile.
    if let Some(closing) = closure::of_team(conn, team).await? {
        return Err(is_closing("team", closing));
    }
    let (id, secret) = site::create(conn, key, team, &settings.name, group).await?;
    site::settings::change(conn, id, settings).await?;
    let site = find(session, id).await?;
    let change = Change::new(Action::SiteCreate, team, site.id, created(&site));
    let issued = IssuedSite {
        site,
        webhook_secret: secret.expose().to_owned(),
    };
    Ok((issued, change))
}

/// Changes a site's settings: `edit` gets the present settings and returns the new ones. The change
/// applies to every submission that is answered afterwards, and limits apply from the next minute
/// on at the latest.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; a rule group or a provider does not exist; the name is
/// taken; the site is being closed.
pub async fn update(
    caller: &Caller,
    site: SiteId,
    edit: impl FnOnce(Settings) -> Settings,
) -> Result<ManagedSite, Refused> {
    let (session, before) = locked(caller, site).await?;
    let settings = edit(before.settings.clone());
    change(session, before, settings).await
}

/// The same for a caller who has seen the settings before. `is_seen` says whether these are the settings that were seen; if
/// not, nothing is changed.
///
/// # Errors
/// As for [`update`].
pub async fn update_seen(
    caller: &Caller,
    site: SiteId,
    is_seen: impl FnOnce(&Settings) -> bool,
    edit: impl FnOnce(Settings) -> Settings,
) -> Result<Result<ManagedSite, Outdated>, Refused> {
    let (mut session, before) = locked(caller, site).await?;
    if !is_seen(&before.settings) {
        let (action, id) = (Action::SiteUpdate, before.id.as_uuid());
        return Ok(Err(session.outdated(action, id, "rule_group_ids").await?));
    }
    let settings = edit(before.settings.clone());
    change(session, before, settings).await.map(Ok)
}

async fn locked(caller: &Caller, site: SiteId) -> Result<(Session, ManagedSite), Refused> {
    let mut session = caller.change(Scope::SitesWrite).await?;
    let before = lock(&mut session, site).await?;
    Ok((session, before))
}

/// A site within the caller's reach, locked until the transaction ends. It is neither closed nor being closed.
pub(crate) async fn lock(session: &mut Session, site: SiteId) -> Result<ManagedSite, Refused> {
    let reach = session.reach();
    let site = site::settings::lock(session.conn(), reach, site).await?;
    let site = site.ok_or(Refused::NotFound(Noun::Site))?;
    if let Some(closure) = site.closure {
        let is_closed = site.closed_at.is_some();
        return Err(is_closing("site", Closing { closure, is_closed }));
    }
    Ok(site)
}

/// Gives a locked site these settings.
async fn change(
    mut session: Session,
    before: ManagedSite,
    settings: Settings,
) -> Result<ManagedSite, Refused> {
    let (conn, team) = (session.conn(), before.team);
    require_groups(conn, team, &settings).await?;
    // Providers that the operator has removed since may stay in the list.
    if settings.providers != before.settings.providers {
        require_providers(conn, &settings).await?;
    }
    site::settings::change(conn, before.id, &settings).await?;
    // The groups keep their order, each once.
    let after = find(&mut session, before.id).await?;
    if let Some(details) = difference(&before, &after) {
        record(session, Action::SiteUpdate, team, after.id, details).await?;
    }
    Ok(after)
}

pub(crate) async fn find(session: &mut Session, site: SiteId) -> Result<ManagedSite, Refused> {
    let reach = session.reach();
    let site = site::settings::find(session.conn(), reach, site).await?;
    site.ok_or(Refused::NotFound(Noun::Site))
}

/// The team of a site within the caller's reach, for code that changes the site. Nobody closes it until the transaction ends.
///
/// # Errors
/// There is no such site; it is closed, or being closed.
#[boxed]
pub async fn require_open(session: &mut Session, site: SiteId) -> Result<TeamId, Refused> {
    let team = session.require_site(site).await?;
    match closure::of_site(session.conn(), site).await? {
        None => Ok(team),
        Some(closing) => Err(is_closing("site", closing)),
    }
}

/// A site or a team cannot be changed because of its closure.
pub(crate) fn is_closing(what: &str, closing: Closing) -> Refused {
    let Closing { closure, is_closed } = closing;
    let detail = if is_closed {
        format!("The {what} is closed.")
    } else {
        format!("The {what} is being closed: cancel the closure {closure} first.")
    };
    Refused::conflict(Conflict::Closing, detail)
}

/// The most rule groups that a site can have. All of them judge every submission.
pub const MOST_GROUPS: usize = 50;

/// The most providers that a site can have. In the worst case, a text is sent to all of them.
pub const MOST_PROVIDERS: usize = 20;

/// Refuses groups of other teams, as if they did not exist.
async fn require_groups(
    conn: &mut PgConnection,
    team: TeamId,
    settings: &Settings,
) -> Result<(), Refused> {
    let Settings {
        default_rule_group,
        rule_groups,
        ..
    } = settings;
    if rule_groups.len() > MOST_GROUPS {
        let message = format!("must have at most {MOST_GROUPS}");
        return Err(Refused::field("rule_group_ids", message));
    }
    let named = [&[*default_rule_group], rule_groups.as_slice()].concat();
    let own = site::settings::own_groups(conn, team, &named).await?;
    let Some(foreign) = named.iter().position(|group| !own.contains(group)) else {
        return Ok(());
    };
    let field = match foreign.checked_sub(1) {
        None => "default_rule_group_id".to_owned(),
        Some(place) => format!("rule_group_ids[{place}]"),
    };
    Err(unknown_group(field))
}

/// Refuses providers that no worker is configured with.
pub(crate) async fn require_providers(
    conn: &mut PgConnection,
    settings: &Settings,
) -> Result<(), Refused> {
    let Some(named) = &settings.providers else {
        return Ok(());
    };
    if !(1..=MOST_PROVIDERS).contains(&named.len()) {
        let message = format!("must have 1 to {MOST_PROVIDERS}");
        return Err(Refused::field("providers", message));
    }
    let known: Vec<String> = provider::list(conn)
        .await?
        .into_iter()
        .map(|provider| provider.name)
        .collect();
    for (place, name) in named.iter().enumerate() {
        let message = if !known.contains(name) {
            format!("is no configured provider; there are: {}", known.join(", "))
        } else if named[..place].contains(name) {
            "is named twice".to_owned()
        } else {
            continue;
        };
        return Err(Refused::field(format!("providers[{place}]"), message));
    }
    Ok(())
}

fn unknown_group(field: impl Into<String>) -> Refused {
    let message = "is no rule group of the site's team";
    Refused::field_of(FieldFault::UnknownRuleGroup, field, message)
}

/// Counts the keys and endpoints of these sites, as far as they are within the caller's reach.
///
/// # Errors
/// The caller may not do it.
#[boxed]
pub async fn counts(caller: &Caller, sites: &[SiteId]) -> Result<Vec<Counts>, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    session.require(Scope::KeysRead)?;
    session.require(Scope::WebhooksRead)?;
    let reach = session.reach();
    Ok(store::site::readiness::counts(session.conn(), reach, sites).await?)
}

/// Whether a site was tried and has rules.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn readiness(caller: &Caller, site: SiteId) -> Result<Readiness, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    session.require(Scope::WebhooksRead)?;
    session.require(Scope::RulesRead)?;
    let reach = session.reach();
    let readiness = store::site::readiness::readiness(session.conn(), reach, site).await?;
    readiness.ok_or(Refused::NotFound(Noun::Site))
}

/// What is removed of a site now, and what is next.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn outlook(caller: &Caller, site: SiteId) -> Result<RetentionPreview, Refused> {
    let mut session = caller.read(Scope::SitesRead).await?;
    let reach = session.reach();
    let outlook = store::media::retention_preview(session.conn(), reach, site).await?;
    outlook.ok_or(Refused::NotFound(Noun::Site))
}
