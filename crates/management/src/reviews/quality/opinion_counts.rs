//! What people said, counted.

use std::collections::BTreeMap;

use chrono::Timelike as _;
use domain::{
    id::ActorId,
    media::{Ruling, Status},
    proportion::{Proportion, quantile},
    review::{Outcome, Pairs, ReviewKind, Severity, Tier},
};
use store::review::quality::Opinion;

use super::dimensions::{ByPolicy, Named, Names, about};

/// What people said, counted.
#[derive(Debug)]
pub struct OpinionCounts {
    /// How fast reviews were decided.
    pub speed: Speed,
    /// The same by severity, the most severe first.
    pub speed_by_severity: Vec<(Severity, Speed)>,
    /// What each person did, those first who decided most.
    pub people: Vec<Person>,
    /// How far two people agreed who did not know of each other.
    pub agreement: Agreement,
    /// The same by policy.
    pub agreement_by_policy: Vec<ByPolicy<Agreement>>,
    /// How often a second look overturned a verdict.
    pub overturned: Overturned,
    /// The same by policy.
    pub overturned_by_policy: Vec<ByPolicy<Overturned>>,
    /// How many decisions about items with a known answer were right.
    pub golden: Proportion,
}

/// How fast reviews were decided: from the beginning of the wait to the decision. Items that wait for their verdict, and appeals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speed {
    /// Half of the decisions took at most so many seconds.
    pub p50: Option<f64>,
    /// 90 % of the decisions took at most so many seconds.
    pub p90: Option<f64>,
    /// 99 % of the decisions took at most so many seconds.
    pub p99: Option<f64>,
    /// How many were in time.
    pub in_time: Proportion,
}

/// What a person did.
#[derive(Clone, Debug)]
pub struct Person {
    /// Who.
    pub who: Named<ActorId>,
    /// How many approvals.
    pub approved: u64,
    /// How many rejections.
    pub rejected: u64,
    /// Decisions by hour of the day, in UTC.
    pub hours: [u64; 24],
    /// How many decisions about items with a known answer were right.
    pub golden: Proportion,
}

/// How far two people agreed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreement {
    /// What both said.
    pub pairs: Pairs,
    /// How many items two people had to decide.
    pub two_people: u64,
    /// How many items were audited.
    pub audits: u64,
}

/// How often a second look overturned a verdict.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overturned {
    /// Audits that ended, with the leads' decision where there was one.
    pub audits: Proportion,
    /// Appeals that ended.
    pub appeals: Proportion,
    /// Verdicts of the desk that somebody overturned on the item's page. Looks that changed nothing are not known there.
    pub elsewhere: Proportion,
}

impl Overturned {
    /// All second looks.
    pub const fn total(self) -> Proportion {
        Proportion {
            hits: self.audits.hits + self.appeals.hits + self.elsewhere.hits,
            of: self.audits.of + self.appeals.of + self.elsewhere.of,
        }
    }
}

impl Person {
    /// How many decisions.
    pub const fn decisions(&self) -> u64 {
        self.approved + self.rejected
    }

    const fn new(who: Named<ActorId>) -> Self {
        Self {
            who,
            approved: 0,
            rejected: 0,
            hours: [0; 24],
            golden: Proportion { hits: 0, of: 0 },
        }
    }
}

impl OpinionCounts {
    pub(super) fn of(said: &[Opinion], names: &Names) -> Self {
        let mut waits = Waits::default();
        let mut waits_by_severity: BTreeMap<i16, Waits> = BTreeMap::new();
        let mut people: BTreeMap<ActorId, Person> = BTreeMap::new();
        let mut agreement = Agreement::default();
        let mut agreements: BTreeMap<_, Agreement> = BTreeMap::new();
        let mut overturned = Overturned::default();
        let mut overturns: BTreeMap<_, Overturned> = BTreeMap::new();
        let mut golden = Proportion::default();
        for opinion in said {
            let person = people.entry(opinion.by);
            let person = person.or_insert_with(|| Person::new(names.person(opinion.by)));
            count(person, opinion);
            if let Some(is_right) = is_right(opinion.outcome) {
                golden.add(is_right);
                person.golden.add(is_right);
            }
            if is_decision(opinion) {
                waits.add(opinion);
                let severity = opinion.severity.number();
                waits_by_severity.entry(severity).or_default().add(opinion);
            }
            if let Some((first, second)) = pair(opinion) {
                for part in [
                    &mut agreement,
                    agreements.entry(about(opinion)).or_default(),
                ] {
                    part.pairs.add(first, second);
                    match opinion.kind {
                        ReviewKind::Audit => part.audits += 1,
                        ReviewKind::Review | ReviewKind::Golden | ReviewKind::Appeal => {
                            part.two_people += 1;
                        }
                    }
                }
            }
            if has_looked_again(opinion) {
                let part = overturns.entry(about(opinion)).or_default();
                overturned.add(opinion);
                part.add(opinion);
            }
        }
        let mut people: Vec<Person> = people.into_values().collect();
        people.sort_by_key(|person| std::cmp::Reverse(person.decisions()));
        Self {
            speed: waits.speed(),
            speed_by_severity: Severity::ALL
                .iter()
                .rev()
                .filter_map(|severity| {
                    let waits = waits_by_severity.remove(&severity.number())?;
                    Some((*severity, waits.speed()))
                })
                .collect(),
            people,
            agreement,
            agreement_by_policy: names.by_policy(agreements),
            overturned,
            overturned_by_policy: names.by_policy(overturns),
            golden,
        }
    }
}

/// How long reviews waited.
#[derive(Default)]
struct Waits {
    milliseconds: Vec<i64>,
    in_time: Proportion,
}

impl Waits {
    fn add(&mut self, opinion: &Opinion) {
        let waited = opinion.said_at - opinion.waiting_since;
        self.milliseconds.push(waited.num_milliseconds());
        self.in_time.add(opinion.said_at <= opinion.due_at);
    }

    fn speed(mut self) -> Speed {
        self.milliseconds.sort_unstable();
        #[expect(clippy::cast_precision_loss, reason = "exact up to 285,000 years")]
        let seconds = |percent| {
            quantile(&self.milliseconds, percent).map(|milliseconds| milliseconds as f64 / 1_000.0)
        };
        Speed {
            p50: seconds(50),
            p90: seconds(90),
            p99: seconds(99),
            in_time: self.in_time,
        }
    }
}

impl Overturned {
    fn add(&mut self, opinion: &Opinion) {
        let is_overturned = opinion.outcome == Outcome::Told;
        match (opinion.kind, is_ended(opinion)) {
            (ReviewKind::Audit, true) => self.audits.add(is_overturned),
            (ReviewKind::Appeal, true) => self.appeals.add(is_overturned),
            (ReviewKind::Audit | ReviewKind::Appeal, false)
            | (ReviewKind::Review | ReviewKind::Golden, _) => {}
        }
        if opinion.is_overturned_elsewhere {
            self.elsewhere.add(true);
        }
    }
}

fn count(person: &mut Person, opinion: &Opinion) {
    match opinion.ruling {
        Ruling::Approve => person.approved += 1,
        Ruling::Reject => person.rejected += 1,
    }
    let hour = usize::try_from(opinion.said_at.hour()).unwrap_or(0);
    if let Some(hour) = person.hours.get_mut(hour) {
        *hour += 1;
    }
}

/// Whether the known answer was found.
const fn is_right(outcome: Outcome) -> Option<bool> {
    match outcome {
        Outcome::Right => Some(true),
        Outcome::Wrong => Some(false),
        Outcome::Told
        | Outcome::Waits
        | Outcome::Agreed
        | Outcome::Disagreed
        | Outcome::Superseded => None,
    }
}

/// Whether it ended a review that an application, or a person who appealed, waited for.
fn is_decision(opinion: &Opinion) -> bool {
    match opinion.kind {
        ReviewKind::Review => opinion.outcome == Outcome::Told,
        ReviewKind::Appeal => is_ended(opinion),
        ReviewKind::Audit | ReviewKind::Golden => false,
    }
}

/// Whether it ended a second look: the verdict was overturned, or kept.
fn is_ended(opinion: &Opinion) -> bool {
    matches!(opinion.outcome, Outcome::Told | Outcome::Agreed)
}

fn has_looked_again(opinion: &Opinion) -> bool {
    let is_second = matches!(opinion.kind, ReviewKind::Audit | ReviewKind::Appeal);
    opinion.is_overturned_elsewhere || is_second && is_ended(opinion)
}

/// What two people said about one item who did not know of each other. Leads know what others said, so they are not counted.
fn pair(opinion: &Opinion) -> Option<(Ruling, Ruling)> {
    let has_compared = matches!(
        opinion.outcome,
        Outcome::Told | Outcome::Agreed | Outcome::Disagreed
    );
    if opinion.tier != Tier::Everybody || !has_compared {
        return None;
    }
    let first = match opinion.kind {
        ReviewKind::Review => opinion.first?.ruling,
        ReviewKind::Audit => match opinion.seen {
            Status::Approved => Ruling::Approve,
            Status::Rejected => Ruling::Reject,
            Status::Pending | Status::PendingReview => return None,
        },
        ReviewKind::Golden | ReviewKind::Appeal => return None,
    };
    Some((first, opinion.ruling))
}
