//! What all pages of a group begin with: its name, where it judges, its draft, and the tabs.

use domain::{
    id::{RuleGroupId, TeamId},
    scope::Scope,
};
use management::{
    Caller, Refused,
    rule_groups::{
        Group,
        overview::{self, Placed},
    },
};

use crate::{
    page::{Area, Frame, PageError, PageRequest},
    time::Moment,
};

/// The tabs of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Rules,
    Try,
    Shadow,
    Backtests,
    Versions,
    Settings,
    /// A page that is behind none of them.
    None,
}

/// An entry of the tabs.
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) path: String,
    pub(super) is_open: bool,
}

/// What all pages of a group begin with.
pub(super) struct Head {
    team: TeamId,
    tab: Tab,
    /// The group, and where it judges.
    pub(super) placed: Placed,
    /// Since when its live version is live.
    pub(super) live_since: Option<Moment>,
    /// Whether the person may change rules.
    pub(super) may_edit: bool,
}

/// The frame and the head of a page of the group in the path.
pub(super) async fn open(
    request: &PageRequest,
    caller: &Caller,
    tab: Tab,
) -> Result<(Frame, Head), PageError> {
    let (placed, published) =
        overview::get(&request.management, caller, request.id("group")?).await?;
    let frame = Frame::of(request, "rules").await?;
    let head = Head {
        tab,
        placed,
        live_since: published.map(|published| published.published_at.into()),
        may_edit: frame.may(Scope::RulesWrite),
    };
    Ok((frame, head))
}

/// The same for a page with a form that changes rules.
///
/// # Errors
/// The person may not change rules.
pub(super) async fn open_to_edit(
    request: &PageRequest,
    caller: &Caller,
    tab: Tab,
) -> Result<(Frame, Head), PageError> {
    let (frame, head) = open(request, caller, tab).await?;
    require(&frame, Scope::RulesWrite)?;
    Ok((frame, head))
}

/// Refuses a person who does not have a scope here.
pub(super) fn require(frame: &Frame, scope: Scope) -> Result<(), PageError> {
    match &frame.open {
        Some(open) if !frame.may(scope) => Err(Refused::beyond_own(open.role, scope).into()),
        Some(_) | None => Ok(()),
    }
}

/// The path of a page of a group.
pub(super) fn path(
    request: &PageRequest,
    group: RuleGroupId,
    rest: &str,
) -> Result<String, PageError> {
    let team = Area::Team(request.team()?);
    Ok(team.path(&format!("rules/{group}{rest}")))
}

impl Head {
    /// The group.
    pub(super) fn group(&self) -> &Group {
        &self.placed.group
    }

    /// The path of a page of the group: `rest` is empty or begins with `/`.
    pub(super) fn path(&self, rest: &str) -> String {
        self.team_path(&format!("rules/{}{rest}", self.group().id))
    }

    /// The path of a page of the team.
    pub(super) fn team_path(&self, place: &str) -> String {
        Area::Team(self.team).path(place)
    }

    /// The tabs that the person may open.
    pub(super) fn tabs(&self) -> Vec<Link> {
        let tabs = [
            (Tab::Rules, "Rules", ""),
            (Tab::Try, "Try", "/try"),
            (Tab::Shadow, "Shadow", "/shadow"),
            (Tab::Backtests, "Backtests", "/backtests"),
            (Tab::Versions, "Versions", "/versions"),
            (Tab::Settings, "Settings", "/settings"),
        ];
        let may_open = |tab: &(Tab, _, _)| self.may_edit || tab.0 != Tab::Try;
        let links = tabs.into_iter().filter(may_open);
        links
            .map(|(tab, name, rest)| Link {
                name,
                path: self.path(rest),
                is_open: tab == self.tab,
            })
            .collect()
    }
}
