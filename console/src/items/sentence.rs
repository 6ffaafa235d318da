//! Why an item has its status, in one sentence.

use domain::{
    decision::Unchecked,
    media::{OnFailure, Status},
    rules::RuleEffect,
};
use management::media::{
    Verdict,
    why::{Ground, Why},
};

/// The sentence of an item that is not judged yet.
pub(super) const PENDING: &str = "Not judged yet: the machine decides first.";

/// Why a verdict was decided so.
pub(crate) fn of(verdict: &Verdict, why: Option<&Why>) -> String {
    let status = outcome(verdict.status);
    let Some(why) = why else {
        return format!("{status}. A newer version of Gatehouse stored why.");
    };
    match &why.ground {
        Ground::Person { name, reason } => {
            let name = name.as_deref().unwrap_or("somebody at a command line");
            format!("{status} by {name}: “{reason}”")
        }
        Ground::Rules(effect) => by_rules(why, *effect),
        Ground::OnFailure(policy) => by_policy(*policy, &why.unchecked),
        Ground::Nothing => {
            format!("{status} because no rule matched and nothing was left unchecked.")
        }
        Ground::NotEvaluated => format!("{status} because the rules could not be evaluated."),
    }
}

const fn outcome(status: Status) -> &'static str {
    match status {
        Status::Pending => "Not judged",
        Status::Approved => "Approved",
        Status::Rejected => "Rejected",
        Status::PendingReview => "Waits for a person",
    }
}

/// The first rule that asked for it, and how many others did.
fn by_rules(why: &Why, effect: RuleEffect) -> String {
    let mut rules = why.found.iter().filter(|rule| rule.effect == Some(effect));
    let Some(first) = rules.next() else {
        return "A rule matched.".to_owned();
    };
    let others = match rules.count() {
        0 => String::new(),
        1 => " and one other rule".to_owned(),
        more => format!(" and {more} other rules"),
    };
    let (name, details) = (&first.name, &first.details);
    match effect {
        RuleEffect::Reject => format!("Rejected by the rule “{name}”{others}. {details}"),
        RuleEffect::Review => {
            format!("Waits for a person, as the rule “{name}”{others} asked. {details}")
        }
    }
}

fn by_policy(policy: OnFailure, unchecked: &[Unchecked]) -> String {
    let unchecked: Vec<String> = unchecked.iter().map(ToString::to_string).collect();
    let unchecked = unchecked.join(", and ");
    match policy {
        OnFailure::Review => format!(
            "Waits for a person because {unchecked}: the site’s setting is to review what could not be checked."
        ),
        OnFailure::Reject => format!(
            "Rejected because {unchecked}: the site’s setting is to reject what could not be checked."
        ),
        OnFailure::Approve => format!(
            "Approved although {unchecked}: the site’s setting is to approve what could not be checked."
        ),
    }
}
