//! What waits for the person who looks: each with a place where it is done.

mod hooks;
mod plan;

use domain::{id::SiteId, scope::Scope};
use management::{Caller, Refused, rule_groups::Group, sites::Counts};

use super::{course::Course, waiting::Waiting};
use crate::{
    number::grouped,
    page::{At, Frame},
    time::Moment,
    visit::Visit,
};

/// Entries of a kind, before they are only counted.
const NAMED: usize = 3;

/// The characters of a stranger's text that are shown.
const SHOWN: usize = 80;

/// Something to do.
pub(super) struct Need {
    pub(super) tone: Tone,
    pub(super) what: String,
    pub(super) text: String,
    /// A time at the end of the text.
    pub(super) time: Option<Moment>,
    pub(super) path: String,
    pub(super) action: &'static str,
}

/// How pressing it is.
#[derive(Clone, Copy)]
pub(super) enum Tone {
    Pressing,
    Soon,
    Sometime,
}

impl Tone {
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Pressing => "no",
            Self::Soon => "warn",
            Self::Sometime => "",
        }
    }
}

/// What the needs are found in.
pub(super) struct Found<'a> {
    pub(super) visit: &'a Visit,
    pub(super) caller: &'a Caller,
    pub(super) frame: &'a Frame,
    pub(super) at: At,
    /// The site that was chosen.
    pub(super) site: Option<SiteId>,
    pub(super) counts: &'a [Counts],
    pub(super) groups: &'a [Group],
    pub(super) waiting: &'a Waiting,
    pub(super) course: &'a Course,
}

impl Found<'_> {
    /// What the person can do something about, the most pressing first.
    pub(super) async fn needs(&self) -> Result<Vec<Need>, Refused> {
        let mut needs = Vec::new();
        if self.frame.may(Scope::WebhooksWrite) {
            hooks::failing(self, &mut needs).await?;
            hooks::given_up(self, &mut needs);
        }
        plan::used(self, &mut needs).await?;
        if self.frame.may(Scope::MediaDecide) {
            self.waiting(&mut needs);
        }
        if self.frame.may(Scope::RulesWrite) {
            self.drafts(&mut needs);
        }
        if !self.frame.has_factor {
            needs.push(Need {
                tone: Tone::Sometime,
                what: "Your account has no second factor".to_owned(),
                text: "A password alone protects it.".to_owned(),
                time: None,
                path: "/account/factor".to_owned(),
                action: "Set up",
            });
        }
        Ok(needs)
    }

    fn waiting(&self, needs: &mut Vec<Need>) {
        if self.waiting.counted == 0 && !self.waiting.has_more {
            return;
        }
        let site = self.site.map(|site| format!("&site={site}"));
        needs.push(Need {
            tone: Tone::Soon,
            what: match (self.waiting.counted, self.waiting.has_more) {
                (1, false) => "1 item waits for a person".to_owned(),
                _ => format!("{} items wait for a person", self.waiting.count()),
            },
            text: if self.waiting.has_more {
                "Some wait for longer than the item that was accepted".to_owned()
            } else {
                "The oldest was accepted".to_owned()
            },
            time: self.waiting.oldest.map(Into::into),
            path: format!(
                "{}?status=pending_review{}",
                self.at.path("items"),
                site.unwrap_or_default()
            ),
            action: "Review",
        });
    }

    fn drafts(&self, needs: &mut Vec<Need>) {
        let edited: Vec<_> = self.groups.iter().filter(|group| group.edited).collect();
        for group in edited.iter().take(NAMED) {
            needs.push(Need {
                tone: Tone::Sometime,
                what: format!("The draft of “{}” is not published", cut(&group.name)),
                text: format!("Version {} judges until then.", group.live_number),
                time: None,
                path: format!("{}/{}", self.at.path("rules"), group.id),
                action: "Open",
            });
        }
        if edited.len() > NAMED {
            let more = edited.len() - NAMED;
            needs.push(Need {
                tone: Tone::Sometime,
                what: format!("{} more drafts are not published", count(more)),
                text: String::new(),
                time: None,
                path: self.at.path("rules"),
                action: "All rules",
            });
        }
    }
}

fn count(number: usize) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The beginning of a text that may be long.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
