//! What a person may do, in forms: the role, and the sites of a moderator.

use domain::{id::SiteId, role::Role, sign_in_limits::MOST_SITES};
use management::{Caller, Refused, people::Standing, sites};

use crate::page::{Area, Form, Frame, pager};

/// The fields with the role and the sites.
pub(super) struct Fields {
    /// The roles that can be chosen, what each may do, and whether it is chosen.
    pub(super) roles: Vec<(Role, &'static str, bool)>,
    /// Whether only the ticked sites count.
    pub(super) only_some: bool,
    /// The sites, and whether each is ticked.
    pub(super) sites: Vec<Site>,
    /// Whether the team has more sites than the form shows.
    pub(super) has_more: bool,
}

pub(super) struct Site {
    pub(super) id: SiteId,
    pub(super) name: String,
    pub(super) is_ticked: bool,
}

impl Fields {
    /// The fields with this choice, for a person who is signed in.
    pub(super) async fn of(
        caller: &Caller,
        frame: &Frame,
        chosen: &Chosen,
    ) -> Result<Self, Refused> {
        let own = match frame.at {
            Area::Instance => &[Role::Operator][..],
            Area::Team(_) | Area::Own => &[
                Role::Viewer,
                Role::Moderator,
                Role::Lead,
                Role::Admin,
                Role::Owner,
            ],
        };
        let roles = own.iter().copied().filter(|role| frame.may_give(*role));
        let listed = match frame.at {
            Area::Team(_) => {
                let limit = i64::try_from(MOST_SITES).unwrap_or(i64::MAX);
                sites::list(caller, pager::first(limit)).await?
            }
            Area::Instance | Area::Own => Vec::new(),
        };
        Ok(Self {
            roles: roles
                .map(|role| (role, what(role), chosen.role == Some(role)))
                .collect(),
            only_some: chosen.only_some,
            has_more: listed.len() >= MOST_SITES,
            sites: listed
                .into_iter()
                .map(|site| Site {
                    is_ticked: chosen.sites.contains(&site.id),
                    id: site.id,
                    name: site.settings.name,
                })
                .collect(),
        })
    }
}

/// What is chosen when the form is shown.
#[derive(Default)]
pub(super) struct Chosen {
    role: Option<Role>,
    only_some: bool,
    sites: Vec<SiteId>,
}

impl Chosen {
    /// What a person has now.
    pub(super) fn now(standing: Standing) -> Self {
        Self {
            role: Some(standing.role),
            only_some: standing.sites.is_some(),
            sites: standing.sites.unwrap_or_default(),
        }
    }

    /// What was sent, so that it stays.
    pub(super) fn sent(form: &Form) -> Self {
        Self {
            role: form.get("role").parse().ok(),
            only_some: is_for_some(form),
            sites: ticked(form),
        }
    }
}

pub(super) fn read(form: &Form) -> Result<Standing, Refused> {
    let role: Role = form.choice("role", "must be one of the roles")?;
    if is_for_some(form) && !role.has_sites() {
        let message =
            "Only moderators are limited to some sites: choose all sites, or another role.";
        return Err(Refused::field("site_ids", message));
    }
    let sites = is_for_some(form).then(|| ticked(form));
    Ok(Standing { role, sites })
}

fn is_for_some(form: &Form) -> bool {
    form.get("sites") == "some"
}

fn ticked(form: &Form) -> Vec<SiteId> {
    form.all("site").filter_map(|id| id.parse().ok()).collect()
}

/// A role with what it may do, for the choice of one.
fn what(role: Role) -> &'static str {
    match role {
        Role::Viewer => "Viewer: reads everything but tokens and the audit log",
        Role::Moderator => "Moderator: a viewer who decides items",
        Role::Lead => "Lead: a moderator for all sites",
        Role::Admin => "Admin: a lead who sets up sites, keys, rules, webhooks and people",
        Role::Owner => {
            "Owner: an admin who also manages owners and tokens, and reads the audit log"
        }
        Role::Operator => "Operator: runs the instance",
    }
}
