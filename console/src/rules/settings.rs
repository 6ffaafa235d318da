//! The settings of a group: its name, the sites that it judges for, and deleting it.

use askama::Template;
use domain::{name::Name, scope::Scope};
use management::{
    Refused,
    rule_groups::{self, attachments},
    sites::{self, ManagedSite},
};

use super::page_header::{self, Head, Tab};
use crate::page::{self, Answer, Frame, PageRequest, Problems, pager, stale_form};

#[derive(Template)]
#[template(path = "rules/settings.html")]
struct Settings {
    frame: Frame,
    head: Head,
    name: String,
    /// The name that the person has seen.
    seen: String,
    sites: Vec<Place>,
    next: Option<String>,
    may_attach: bool,
    problems: Problems,
}

/// A site, and whether the group judges for it.
struct Place {
    site: ManagedSite,
    is_attached: bool,
    is_default: bool,
    /// How many groups are attached to the site.
    attached: usize,
}

impl Place {
    /// What the group is for the site.
    fn state(&self) -> (&'static str, &'static str) {
        match (self.is_attached, self.is_default, self.attached) {
            (true, ..) => ("judges", "ok"),
            (false, true, 0) => ("judges as default", "ok"),
            (false, true, _) => ("default, but others are attached", ""),
            (false, false, _) => ("does not judge", ""),
        }
    }

    /// What attaching or detaching would change beyond this group.
    fn consequence(&self) -> Option<&'static str> {
        match (self.is_attached, self.is_default, self.attached) {
            (false, false, 0) => Some("Its default group would not judge any more."),
            (true, false, 1) => Some("Without it, the site's default group judges."),
            _ => None,
        }
    }
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let caller = request.caller()?;
    let (frame, head) = page_header::open(request, &caller, Tab::Settings).await?;
    let listed = sites::list(&caller, pager::asked(request)).await?;
    let next = pager::next(request, &listed, |site| site.id);
    let group = head.group();
    let sites = listed.into_iter().map(|site| Place {
        is_attached: site.settings.rule_groups.contains(&group.id),
        is_default: site.settings.default_rule_group == group.id,
        attached: site.settings.rule_groups.len(),
        site,
    });
    let typed = request.form.get("name");
    let page = Settings {
        sites: sites.collect(),
        seen: stale_form::next(request, &problems, group.name.clone()),
        name: if typed.is_empty() {
            group.name.clone()
        } else {
            typed.to_owned()
        },
        next,
        may_attach: frame.may(Scope::SitesWrite),
        frame,
        head,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

pub(crate) async fn rename(request: PageRequest) -> Answer {
    let group = request.id("group")?;
    let caller = request.caller()?;
    let renamed = match request.form.get("name").trim().parse::<Name>() {
        Ok(name) if request.form.has("seen") => {
            let seen = request.form.get("seen");
            rule_groups::rename_seen(&caller, group, seen, name).await
        }
        Ok(name) => rule_groups::rename(&caller, group, Some(name))
            .await
            .map(Ok),
        Err(wrong) => Err(Refused::field("name", wrong.to_string())),
    };
    match renamed {
        Ok(Ok(_)) => request.lead_to(format!("rules/{group}/settings?done=group-renamed")),
        Ok(Err(outdated)) => page(&request, stale_form::problems(&outdated)).await,
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

pub(crate) async fn delete(request: PageRequest) -> Answer {
    let (group, caller) = (request.id("group")?, request.caller()?);
    let found = rule_groups::get(&caller, group).await?;
    let deleted = if request.form.get("typed") == found.name {
        rule_groups::delete(&caller, group).await
    } else {
        Err(Refused::field("typed", "is not the name of the group"))
    };
    match deleted {
        Ok(()) => request.lead_to("rules?done=group-deleted"),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

pub(crate) async fn attach(request: PageRequest) -> Answer {
    let (group, site) = (request.id("group")?, request.id("site")?);
    let caller = request.caller()?;
    match attachments::attach(&caller, site, group).await {
        Ok(()) => request.lead_to(format!("rules/{group}/settings?done=group-attached")),
        Err(refused) => page(&request, Problems::of(refused)?).await,
    }
}

pub(crate) async fn detach(request: PageRequest) -> Answer {
    let (group, site) = (request.id("group")?, request.id("site")?);
    let caller = request.caller()?;
    attachments::detach(&caller, site, group).await?;
    request.lead_to(format!("rules/{group}/settings?done=group-detached"))
}
