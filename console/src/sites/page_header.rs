//! What the pages of one site have in common: its name, and the way from one to the other.

use domain::scope::Scope;
use management::sites::{self, ManagedSite};

use crate::page::{Area, Frame, PageError, PageRequest};

/// A page of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Overview,
    Settings,
    Keys,
    Secret,
    Desk,
}

impl Tab {
    const ALL: [Self; 5] = [
        Self::Overview,
        Self::Settings,
        Self::Keys,
        Self::Secret,
        Self::Desk,
    ];

    /// What people read.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Settings => "Settings",
            Self::Keys => "Keys",
            Self::Secret => "Webhook secret",
            Self::Desk => "Desk",
        }
    }

    const fn place(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Settings => "settings",
            Self::Keys => "keys",
            Self::Secret => "secret",
            Self::Desk => "desk",
        }
    }

    /// Without it, the page is not offered.
    const fn scope(self) -> Scope {
        match self {
            Self::Overview => Scope::SitesRead,
            Self::Settings => Scope::SitesWrite,
            Self::Keys => Scope::KeysRead,
            Self::Secret => Scope::WebhooksRead,
            Self::Desk => Scope::ReviewsRead,
        }
    }
}

/// The site of a page, and the page.
pub(crate) struct SiteHeader {
    pub(crate) team: Area,
    pub(crate) site: ManagedSite,
    pub(crate) tab: Tab,
}

impl SiteHeader {
    /// The site in the path, and the frame. `Err`: there is none within reach, or nobody is signed in.
    pub(crate) async fn of(request: &PageRequest, tab: Tab) -> Result<(Frame, Self), PageError> {
        let team = request.team()?;
        let caller = request.caller()?;
        let site = sites::get(&caller, request.id("site")?).await?;
        let team = Area::Team(team);
        let frame = Frame::of(request, "sites").await?;
        Ok((frame, Self { team, site, tab }))
    }

    /// What the site is called.
    pub(crate) fn name(&self) -> &str {
        &self.site.settings.name
    }

    /// The path of a place of the site; of its first page, if the place is empty.
    pub(crate) fn path(&self, place: &str) -> String {
        let site = format!("{}/{}", self.team.path("sites"), self.site.id);
        if place.is_empty() {
            return site;
        }
        format!("{site}/{place}")
    }

    /// The pages of the site that the person may open.
    pub(crate) fn tabs(&self, frame: &Frame) -> Vec<(Tab, String)> {
        let tabs = Tab::ALL.into_iter();
        tabs.filter(|tab| frame.may(tab.scope()))
            .map(|tab| (tab, self.path(tab.place())))
            .collect()
    }
}
