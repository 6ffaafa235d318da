//! What waits for the person who looks: each with a place where it is done.

mod plan_usage;
mod webhooks;

use domain::{id::SiteId, scope::Scope};
use management::{Caller, Refused, media::Waiting, rule_groups::Group};

use super::{trend::Trend, waiting};
use crate::{
    number::grouped,
    page::{Area, Frame, PageRequest},
    time::Moment,
};

/// Entries of a kind, before they are only counted.
const NAMED: usize = 3;

/// The characters of a stranger's text that are shown.
const SHOWN: usize = 80;

/// Something to do.
pub(super) struct ToDo {
    pub(super) tone: Tone,
    pub(super) what: What,
    pub(super) text: String,
    /// Why, in words of somebody else.
    pub(super) quote: Option<String>,
    /// A time at the end of the text.
    pub(super) time: Option<Moment>,
    pub(super) path: String,
    pub(super) action: &'static str,
}

/// What is wrong. The name is a part of its own, because its author could turn the direction of the text around it.
#[derive(Default)]
pub(super) struct What {
    pub(super) before: String,
    pub(super) name: String,
    pub(super) after: &'static str,
}

impl From<String> for What {
    fn from(text: String) -> Self {
        Self {
            before: text,
            ..Self::default()
        }
    }
}

impl ToDo {
    fn new(tone: Tone, what: impl Into<What>, path: String, action: &'static str) -> Self {
        Self {
            tone,
            what: what.into(),
            text: String::new(),
            quote: None,
            time: None,
            path,
            action,
        }
    }
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
    pub(super) request: &'a PageRequest,
    pub(super) caller: &'a Caller,
    pub(super) frame: &'a Frame,
    pub(super) at: Area,
    /// The site that was chosen.
    pub(super) site: Option<SiteId>,
    pub(super) groups: &'a [Group],
    pub(super) waiting: &'a Waiting,
    pub(super) trend: &'a Trend,
}

impl Found<'_> {
    /// What the person can do something about, the most pressing first.
    pub(super) async fn needs(&self) -> Result<Vec<ToDo>, Refused> {
        let mut needs = Vec::new();
        if self.frame.may(Scope::WebhooksWrite) {
            webhooks::failing(self, &mut needs).await?;
            webhooks::given_up(self, &mut needs);
        }
        plan_usage::used(self, &mut needs).await?;
        if self.frame.may(Scope::MediaDecide) {
            self.waiting(&mut needs);
        }
        if self.frame.may(Scope::RulesWrite) {
            self.drafts(&mut needs);
        }
        if !self.frame.has_factor {
            let what = "Your account has no second factor".to_owned();
            needs.push(ToDo {
                text: "Only a password protects it.".to_owned(),
                ..ToDo::new(Tone::Sometime, what, "/account/factor".to_owned(), "Set up")
            });
        }
        Ok(needs)
    }

    fn waiting(&self, needs: &mut Vec<ToDo>) {
        if self.waiting.counted == 0 && !self.waiting.has_more {
            return;
        }
        let what = match (self.waiting.counted, self.waiting.has_more) {
            (1, false) => "1 item waits for a person".to_owned(),
            _ => format!("{} items wait for a person", waiting::count(self.waiting)),
        };
        let text = if self.waiting.has_more {
            "At least one was accepted"
        } else {
            "The oldest was accepted"
        };
        let path = self.filtered("items?status=pending_review");
        needs.push(ToDo {
            text: text.to_owned(),
            time: self.waiting.oldest.map(Into::into),
            ..ToDo::new(Tone::Soon, what, path, "Review")
        });
    }

    fn drafts(&self, needs: &mut Vec<ToDo>) {
        let edited: Vec<_> = self.groups.iter().filter(|group| group.edited).collect();
        for group in edited.iter().take(NAMED) {
            let what = What {
                before: "The draft of “".to_owned(),
                name: cut(&group.name),
                after: "” is not published",
            };
            let path = format!("{}/{}", self.at.path("rules"), group.id);
            needs.push(ToDo {
                text: format!("Version {} judges until then.", group.live_number),
                ..ToDo::new(Tone::Sometime, what, path, "Open")
            });
        }
        if edited.len() > NAMED {
            let what = match edited.len() - NAMED {
                1 => "1 more draft is not published".to_owned(),
                more => format!("{} more drafts are not published", count(more)),
            };
            let path = self.at.path("rules");
            needs.push(ToDo::new(Tone::Sometime, what, path, "All rules"));
        }
    }

    /// The path of a list that is filtered, also by the site that was chosen.
    fn filtered(&self, place: &str) -> String {
        let path = self.at.path(place);
        match self.site {
            Some(site) => format!("{path}&site={site}"),
            None => path,
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
