//! The reports of the desk in responses.

use api_common::{Field, Schema, Time};
use domain::{id::SiteId, review::Severity};
use management::reviews::quality::{
    Agreement, Backlog, ByPolicy, NamedPolicy, Overturned, Person, Quality, Speed,
};
use serde::Serialize;
use uuid::Uuid;

use super::{machine::ReviewMachine, proportion::ReviewProportion};

/// The reports of the desk.
#[derive(Serialize, Schema)]
pub(crate) struct ReviewQuality {
    /// The site. `null` if the figures are those of the team.
    #[schema(nullable)]
    site_id: Option<Uuid>,
    /// From this time on.
    from: Field<Time>,
    /// Before this time.
    to: Field<Time>,
    /// How many decisions were counted.
    counted: usize,
    /// Whether these are all of the span.
    is_complete: bool,
    /// What waits now, by site and by policy.
    waiting: ReviewBacklogs,
    /// How long decisions took, of items that wait for their verdict, and of appeals.
    time_to_decision: ReviewSpeed,
    /// The same by severity, the most severe first.
    time_to_decision_by_severity: Vec<ReviewSeveritySpeed>,
    /// What each person did, those first who decided most.
    people: Vec<ReviewPerson>,
    /// How far two people agreed who did not know of each other.
    agreement: ReviewAgreement,
    /// The same by policy.
    agreement_by_policy: Vec<ReviewPolicyAgreement>,
    /// How often a second look overturned a verdict.
    overturned: ReviewOverturned,
    /// The same by policy.
    overturned_by_policy: Vec<ReviewPolicyOverturned>,
    /// How many decisions about items with a known answer were right.
    golden: ReviewProportion,
    /// How the machine compares with people.
    machine: ReviewMachine,
}

/// A policy, as reports name it.
#[derive(Serialize, Schema)]
struct NamedReviewPolicy {
    /// The policy.
    id: Uuid,
    /// What programs call it.
    code: String,
    /// What people read.
    name: String,
}

/// What waits now.
#[derive(Serialize, Schema)]
struct ReviewBacklogs {
    /// By site.
    by_site: Vec<ReviewSiteBacklog>,
    /// By the most severe policy that is suggested.
    by_policy: Vec<ReviewPolicyBacklog>,
    /// Whether all that waits was counted: at most 100,000 reviews are.
    is_complete: bool,
}

/// What waits at a site.
#[derive(Serialize, Schema)]
struct ReviewSiteBacklog {
    /// The site.
    site_id: Uuid,
    /// The site's name.
    #[schema(nullable)]
    site_name: Option<String>,
    /// What waits.
    backlog: ReviewBacklog,
}

/// What waits for which a policy is suggested.
#[derive(Serialize, Schema)]
struct ReviewPolicyBacklog {
    /// The policy. `null`: no policy is suggested.
    #[schema(nullable)]
    policy: Option<NamedReviewPolicy>,
    /// What waits.
    backlog: ReviewBacklog,
}

/// Reviews that wait.
#[derive(Serialize, Schema)]
struct ReviewBacklog {
    /// How many there are, those that somebody has included.
    reviews: i64,
    /// How many of them should have been decided by now.
    overdue: i64,
    /// Since when the first of them has waited.
    oldest_waiting_since: Field<Time>,
}

/// How long decisions took, in seconds from the beginning of the wait. A percentile is the time of one of the decisions (nearest
/// rank).
#[derive(Serialize, Schema)]
struct ReviewSpeed {
    /// Half of the decisions took at most so long.
    #[schema(nullable)]
    p50_seconds: Option<f64>,
    /// 90 % of the decisions took at most so long.
    #[schema(nullable)]
    p90_seconds: Option<f64>,
    /// 99 % of the decisions took at most so long.
    #[schema(nullable)]
    p99_seconds: Option<f64>,
    /// How many were made in time: the site's desk settings say how long that is.
    in_time: ReviewProportion,
}

/// How long decisions of a severity took.
#[derive(Serialize, Schema)]
struct ReviewSeveritySpeed {
    /// The severity.
    severity: Field<Severity>,
    /// How long the decisions took.
    time_to_decision: ReviewSpeed,
}

/// What a person did.
#[derive(Serialize, Schema)]
struct ReviewPerson {
    /// The person or the token.
    id: Uuid,
    /// What they are called. `null` if they are gone.
    #[schema(nullable)]
    name: Option<String>,
    /// Decisions of all kinds, audits and known answers included.
    decisions: u64,
    /// How many of them were approvals.
    approved: u64,
    /// How many of them were rejections.
    rejected: u64,
    /// Decisions by hour of the day, in UTC: 24 numbers.
    hours: Vec<u64>,
    /// How many decisions about items with a known answer were right.
    golden: ReviewProportion,
}

/// How far two people agreed who did not know of each other.
#[derive(Serialize, Schema)]
struct ReviewAgreement {
    /// How many items two people had to decide.
    two_people: u64,
    /// How many items were audited.
    audits: u64,
    /// About how many items both said the same.
    agreed: ReviewProportion,
    /// Cohen's kappa: 1 if people always agree, 0 if they agree as often as chance would. `null` without items, and if everybody
    /// always said the same.
    #[schema(nullable)]
    kappa: Option<f64>,
    /// The lower end of the interval of 95 %, with the asymptotic standard error.
    #[schema(nullable)]
    kappa_low: Option<f64>,
    /// The upper end.
    #[schema(nullable)]
    kappa_high: Option<f64>,
}

/// How far two people agreed about a policy.
#[derive(Serialize, Schema)]
struct ReviewPolicyAgreement {
    /// The most severe policy that was suggested, or else the one that the first person named. `null` without one.
    #[schema(nullable)]
    policy: Option<NamedReviewPolicy>,
    /// How far they agreed.
    agreement: ReviewAgreement,
}

/// How often a second look overturned a verdict.
#[derive(Serialize, Schema)]
struct ReviewOverturned {
    /// All second looks.
    total: ReviewProportion,
    /// Audits that ended, with the lead's decision if there was one.
    audits: ReviewProportion,
    /// Appeals that ended.
    appeals: ReviewProportion,
    /// Verdicts of the desk that somebody overturned on the item's page. Looks that changed nothing are not known there.
    elsewhere: ReviewProportion,
}

/// How often a second look overturned a verdict about a policy.
#[derive(Serialize, Schema)]
struct ReviewPolicyOverturned {
    /// The policy, as in `agreement_by_policy`.
    #[schema(nullable)]
    policy: Option<NamedReviewPolicy>,
    /// How often.
    overturned: ReviewOverturned,
}

impl From<Quality> for ReviewQuality {
    fn from(quality: Quality) -> Self {
        let (waiting, tally) = (quality.waiting, quality.tally);
        Self {
            site_id: quality.site.map(SiteId::as_uuid),
            from: quality.from.into(),
            to: quality.to.into(),
            counted: quality.counted,
            is_complete: quality.is_complete,
            waiting: ReviewBacklogs {
                by_site: waiting
                    .by_site
                    .into_iter()
                    .map(|(site, backlog)| ReviewSiteBacklog {
                        site_id: site.id.as_uuid(),
                        site_name: site.name,
                        backlog: backlog.into(),
                    })
                    .collect(),
                by_policy: each(waiting.by_policy, |policy, backlog| ReviewPolicyBacklog {
                    policy,
                    backlog: backlog.into(),
                }),
                is_complete: waiting.is_complete,
            },
            time_to_decision: tally.speed.into(),
            time_to_decision_by_severity: tally
                .speed_by_severity
                .into_iter()
                .map(|(severity, speed)| ReviewSeveritySpeed {
                    severity: Field(severity),
                    time_to_decision: speed.into(),
                })
                .collect(),
            people: tally.people.into_iter().map(Into::into).collect(),
            agreement: tally.agreement.into(),
            agreement_by_policy: each(tally.agreement_by_policy, |policy, agreement| {
                ReviewPolicyAgreement {
                    policy,
                    agreement: agreement.into(),
                }
            }),
            overturned: tally.overturned.into(),
            overturned_by_policy: each(tally.overturned_by_policy, |policy, overturned| {
                ReviewPolicyOverturned {
                    policy,
                    overturned: overturned.into(),
                }
            }),
            golden: tally.golden.into(),
            machine: quality.machine.into(),
        }
    }
}

fn each<T, S>(
    parts: Vec<ByPolicy<T>>,
    shape: impl Fn(Option<NamedReviewPolicy>, T) -> S,
) -> Vec<S> {
    parts
        .into_iter()
        .map(|part| shape(part.policy.map(Into::into), part.figures))
        .collect()
}

impl From<NamedPolicy> for NamedReviewPolicy {
    fn from(policy: NamedPolicy) -> Self {
        Self {
            id: policy.id.as_uuid(),
            code: policy.code,
            name: policy.name,
        }
    }
}

impl From<Backlog> for ReviewBacklog {
    fn from(backlog: Backlog) -> Self {
        Self {
            reviews: backlog.reviews,
            overdue: backlog.overdue,
            oldest_waiting_since: backlog.oldest.into(),
        }
    }
}

impl From<Speed> for ReviewSpeed {
    fn from(speed: Speed) -> Self {
        Self {
            p50_seconds: speed.p50,
            p90_seconds: speed.p90,
            p99_seconds: speed.p99,
            in_time: speed.in_time.into(),
        }
    }
}

impl From<Person> for ReviewPerson {
    fn from(person: Person) -> Self {
        Self {
            id: person.who.id.as_uuid(),
            decisions: person.decisions(),
            approved: person.approved,
            rejected: person.rejected,
            hours: person.hours.to_vec(),
            golden: person.golden.into(),
            name: person.who.name,
        }
    }
}

impl From<Agreement> for ReviewAgreement {
    fn from(agreement: Agreement) -> Self {
        let kappa = agreement.pairs.kappa();
        Self {
            two_people: agreement.two_people,
            audits: agreement.audits,
            agreed: agreement.pairs.agreed().into(),
            kappa: kappa.map(|kappa| kappa.value),
            kappa_low: kappa.map(|kappa| kappa.interval.low),
            kappa_high: kappa.map(|kappa| kappa.interval.high),
        }
    }
}

impl From<Overturned> for ReviewOverturned {
    fn from(overturned: Overturned) -> Self {
        Self {
            total: overturned.total().into(),
            audits: overturned.audits.into(),
            appeals: overturned.appeals.into(),
            elsewhere: overturned.elsewhere.into(),
        }
    }
}
