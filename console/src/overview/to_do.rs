//! What waits for the person who looks: each with a place where it is done.

use chrono::{DateTime, Utc};
use domain::{id::SiteId, scope::Scope};
use management::{
    Caller, Refused,
    endpoints::{self, Endpoint},
    media::Waiting,
    rule_groups::Group,
    usage,
};

use super::{tiles::waiting_count, trend::Trend};
use crate::{
    number::{grouped, percent},
    page::{Area, Frame},
};

/// Entries of a kind, before they are only counted.
const NAMED: usize = 3;

/// The characters of a stranger's text that are shown.
const SHOWN: usize = 80;

/// From this share on, in percent, the use of a quota is told.
const MUCH: i64 = 80;

pub(super) struct ToDo {
    pub(super) tone: Tone,
    pub(super) what: What,
    pub(super) text: String,
    /// Why, in words of somebody else.
    pub(super) quote: Option<String>,
    /// A time at the end of the text.
    pub(super) time: Option<DateTime<Utc>>,
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
    pub(super) caller: &'a Caller,
    pub(super) frame: &'a Frame,
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
            failing(self, &mut needs).await?;
            given_up(self, &mut needs);
        }
        used(self, &mut needs).await?;
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
            _ => format!("{} items wait for a person", waiting_count(self.waiting)),
        };
        let text = if self.waiting.has_more {
            "At least one was accepted"
        } else {
            "The oldest was accepted"
        };
        let path = self.filtered("items?status=pending_review");
        needs.push(ToDo {
            text: text.to_owned(),
            time: self.waiting.oldest,
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
            let path = format!("{}/{}", self.frame.path("rules"), group.id);
            needs.push(ToDo {
                text: format!("Version {} judges until then.", group.live_number),
                ..ToDo::new(Tone::Sometime, what, path, "Open")
            });
        }
        if edited.len() > NAMED {
            let what = match edited.len() - NAMED {
                1 => "1 more draft is not published".to_owned(),
                more => format!("{} more drafts are not published", grouped(more)),
            };
            let path = self.frame.path("rules");
            needs.push(ToDo::new(Tone::Sometime, what, path, "All rules"));
        }
    }

    /// The path of a list that is filtered, also by the site that was chosen.
    fn filtered(&self, place: &str) -> String {
        let path = self.frame.path(place);
        match self.site {
            Some(site) => format!("{path}&site={site}"),
            None => path,
        }
    }
}

/// The beginning of a text that may be long.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Endpoints whose last attempt failed. One that was disabled meanwhile is told for a week.
async fn failing(found: &Found<'_>, needs: &mut Vec<ToDo>) -> Result<(), Refused> {
    let Some(team) = found.frame.at.team() else {
        return Ok(());
    };
    let named = i64::try_from(NAMED).unwrap_or(i64::MAX);
    let of = (team, found.site);
    let (failing, of_all) = endpoints::failing_of_team(found.caller, of, named).await?;
    let hooks = found.frame.path("webhooks");
    for endpoint in &failing {
        needs.push(need(endpoint, format!("{hooks}/{}", endpoint.id)));
    }
    let what = match of_all - named {
        ..=0 => return Ok(()),
        1 => "1 more endpoint fails".to_owned(),
        more => format!("{} more endpoints fail", grouped(more)),
    };
    needs.push(ToDo::new(Tone::Pressing, what, hooks, "All webhooks"));
    Ok(())
}

fn need(endpoint: &Endpoint, path: String) -> ToDo {
    let what = |after| What {
        name: cut(&endpoint.settings.url),
        after,
        ..What::default()
    };
    if let Some(at) = endpoint.disabled_at {
        return ToDo {
            quote: endpoint.disabled_reason.as_deref().map(cut),
            text: "Nothing is sent to it since".to_owned(),
            time: Some(at),
            ..ToDo::new(Tone::Pressing, what(" was disabled"), path, "Look")
        };
    }
    ToDo {
        text: match endpoint.waiting {
            1 => "1 delivery waits. The first failure was".to_owned(),
            waiting => format!(
                "{} deliveries wait. The first failure was",
                grouped(waiting)
            ),
        },
        time: endpoint.health.failing_since,
        ..ToDo::new(Tone::Pressing, what(" fails"), path, "Look")
    }
}

/// Deliveries of the time range whose attempts all failed.
fn given_up(found: &Found<'_>, needs: &mut Vec<ToDo>) {
    let what = match found.trend.total.exhausted {
        0 => return,
        1 => "1 webhook was given up".to_owned(),
        given_up => format!("{} webhooks were given up", grouped(given_up)),
    };
    let span = found.trend.window.span.name();
    let path = found.filtered("deliveries?state=exhausted");
    needs.push(ToDo {
        text: format!("All attempts failed, in the last {span}."),
        ..ToDo::new(Tone::Pressing, what, path, "Look")
    });
}

/// Quotas of the present billing period that are nearly used up.
async fn used(found: &Found<'_>, needs: &mut Vec<ToDo>) -> Result<(), Refused> {
    let Area::Team(team) = found.frame.at else {
        return Ok(());
    };
    if !found.frame.may(Scope::UsageRead) {
        return Ok(());
    }
    let periods = match usage::periods(found.caller, team).await {
        Ok(periods) => periods,
        // A team without a subscription has none.
        Err(Refused::NotFound(_)) => {
            let what = "Your team has no subscription".to_owned();
            needs.push(ToDo {
                text: "Submissions are refused.".to_owned(),
                ..plan_need(found, Tone::Pressing, what)
            });
            return Ok(());
        }
        Err(other) => return Err(other),
    };
    let Some(period) = periods.first() else {
        return Ok(());
    };
    for (what, used, quota) in [
        ("submissions", period.submissions, period.quota),
        ("webhooks", period.deliveries, period.delivery_quota),
    ] {
        let Some(quota) = quota else { continue };
        let share = percent(used, quota);
        let (tone, what) = match share {
            100.. => (Tone::Pressing, format!("All {what} of your plan are used")),
            MUCH..100 => (
                Tone::Soon,
                format!("{share} % of your plan's {what} are used"),
            ),
            _ => continue,
        };
        let text = format!("{} of {}, until", grouped(used), grouped(quota));
        needs.push(ToDo {
            text,
            time: Some(period.end),
            ..plan_need(found, tone, what)
        });
    }
    Ok(())
}

fn plan_need(found: &Found<'_>, tone: Tone, what: String) -> ToDo {
    ToDo::new(tone, what, found.frame.path("usage"), "Usage and plan")
}
