//! What all pages of a group begin with: its name, where it judges, its draft, and the tabs.

use chrono::{DateTime, Utc};
use domain::scope::Scope;
use management::{
    Caller, Conflict, Refused,
    rule_groups::{
        Group,
        overview::{self, Placed},
    },
};

use crate::page::{Area, Frame, PageError, PageRequest, Problems};

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
    team: Area,
    tab: Tab,
    /// The group, and where it judges.
    pub(super) placed: Placed,
    /// Since when its live version is live.
    pub(super) live_since: Option<DateTime<Utc>>,
    pub(super) may_edit: bool,
}

/// The frame and the head of a page of the group in the path.
pub(super) async fn open(
    request: &PageRequest,
    caller: &Caller,
    tab: Tab,
) -> Result<(Frame, Head), PageError> {
    let (placed, published) = overview::get(caller, request.id("group")?).await?;
    let frame = Frame::of(request, "rules").await?;
    let head = Head {
        team: frame.at,
        tab,
        placed,
        live_since: published.map(|published| published.published_at),
        may_edit: frame.may(Scope::RulesWrite),
    };
    Ok((frame, head))
}

/// What a person reads whose change was overtaken by another one.
const OVERTAKEN: &str = "Somebody else changed the draft meanwhile. Nothing of your change was stored. \
     This is the draft as it is now.";

/// The revision of the draft that the form was made for. What cannot be one is none that ever was.
pub(super) fn revision(request: &PageRequest) -> i64 {
    request.form.get("revision").parse().unwrap_or(-1)
}

/// Why a change of the draft was refused.
pub(super) fn problems(refused: Refused) -> Result<Problems, PageError> {
    match refused {
        Refused::Conflict(Conflict::DraftChanged, _) => Ok(Problems::conflict(OVERTAKEN)),
        refused => Problems::of(refused),
    }
}

impl Head {
    pub(super) fn group(&self) -> &Group {
        &self.placed.group
    }

    /// The path of a page of the group: `rest` is empty or begins with `/`.
    pub(super) fn path(&self, rest: &str) -> String {
        self.team_path(&format!("rules/{}{rest}", self.group().id))
    }

    /// The path of a page of the team.
    pub(super) fn team_path(&self, place: &str) -> String {
        self.team.path(place)
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
