//! An hour of three people at the desk, played through the real operations. Only the times are set afterwards.

mod script;
mod setup;
mod times;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{app::App, management::Caller};

/// What somebody said.
#[derive(Clone, Debug)]
pub(super) struct Said {
    /// Of `Hour::people`.
    pub(super) person: usize,
    pub(super) site: usize,
    pub(super) item: usize,
    pub(super) rejects: bool,
    /// Why: `first` and `second` of two people, `only`, `lead`, `audit`, `audit lead`, `appeal`, `golden`.
    pub(super) why: &'static str,
    /// Whether the verdict of the item, or the review, was settled by it.
    pub(super) is_told: bool,
    /// Of an audit or an appeal: what was in force. Of a second person: what the first one said. Of a golden item: the answer.
    pub(super) other: Option<bool>,
    pub(super) severity: &'static str,
    /// Of `Hour::policies`.
    pub(super) policy: Option<usize>,
    review: Uuid,
    pub(super) at: DateTime<Utc>,
    pub(super) waited_ms: i64,
    pub(super) allowed_ms: i64,
}

/// An item.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub(super) media: String,
    pub(super) site: usize,
    pub(super) policy: Option<usize>,
    /// The scores of two providers.
    pub(super) scores: [Option<f64>; 2],
    /// Which of `Hour::rules` had matched.
    pub(super) rules: Vec<usize>,
    /// What people said in the end; none while it waits.
    pub(super) rejected: Option<bool>,
    /// Whether somebody overturned it on its page.
    pub(super) overturned_elsewhere: bool,
}

/// What was played.
pub(super) struct Hour<'a> {
    pub(super) app: &'a App,
    pub(super) lead: Caller<'a>,
    pub(super) people: Vec<(Caller<'a>, String)>,
    pub(super) sites: Vec<Uuid>,
    keys: Vec<String>,
    /// Id, code, severity, and how many minutes it allows.
    pub(super) policies: Vec<(Uuid, &'static str, &'static str)>,
    /// Id, name and kind.
    pub(super) rules: Vec<(Uuid, &'static str, &'static str)>,
    pub(super) groups: Vec<Uuid>,
    pub(super) threshold_rules: Vec<Uuid>,
    pub(super) items: Vec<Item>,
    golden: BTreeMap<String, (usize, bool)>,
    pub(super) said: Vec<Said>,
    /// What was said a day later.
    pub(super) late: Vec<Said>,
    /// Since when what still waits has waited, and whether it is overdue: by item.
    pub(super) waiting: Vec<(usize, DateTime<Utc>, bool)>,
    chance: u64,
}

const SITES: [&str; 2] = ["Forum", "=Market, \"the best\""];

impl<'a> Hour<'a> {
    /// Sets the stage, and plays.
    pub(super) async fn play(app: &'a App) -> Self {
        let mut hour = Self::begin(app).await;
        for number in 0..240 {
            hour.item(number).await;
        }
        for number in 240..252 {
            hour.left(number).await;
        }
        hour.set_times().await;
        hour
    }

    async fn begin(app: &'a App) -> Self {
        let lead = app.member(app.tenant.team).await;
        let mut people = Vec::new();
        for _ in 0..2 {
            let person = app.moderator().await;
            let id = person.id().await;
            people.push((person, id));
        }
        let second_lead = app.member(app.tenant.team).await;
        let id = second_lead.id().await;
        people.push((second_lead, id));
        let mut policies = Vec::new();
        for (code, number, category, two) in [
            ("spam", 0, "spam", false),
            ("hate", 2, "hate", false),
            ("threats", 3, "violence", true),
        ] {
            let id = app.policy(code, number, &[category], two).await;
            let severity = ["low", "normal", "high", "critical"][usize::try_from(number).unwrap()];
            policies.push((id, code, severity));
        }
        let mut hour = Self {
            app,
            lead,
            people,
            sites: Vec::new(),
            keys: Vec::new(),
            policies,
            rules: vec![
                (Uuid::now_v7(), "words", "keyword"),
                (Uuid::now_v7(), "=links", "link"),
            ],
            groups: Vec::new(),
            threshold_rules: Vec::new(),
            items: Vec::new(),
            golden: BTreeMap::new(),
            said: Vec::new(),
            late: Vec::new(),
            waiting: Vec::new(),
            chance: 7,
        };
        for (number, name) in SITES.into_iter().enumerate() {
            hour.site(name, number).await;
        }
        for number in 0..16 {
            hour.known(number).await;
        }
        hour
    }

    /// A number below this one. The same numbers in each run.
    fn draw(&mut self, below: u64) -> u64 {
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.chance >> 33) % below
    }
}

/// The score that a rule looks at.
pub(super) fn highest(item: &Item) -> Option<f64> {
    item.scores.into_iter().flatten().reduce(f64::max)
}
