//! Why an item has its status, in one sentence.

use domain::{
    decision::{Unchecked, Unscored},
    media::{OnFailure, Status},
    rules::RuleEffect,
    score::Category,
};
use management::media::{
    Verdict,
    explanation::{Explanation, Ground},
};

use super::verdict_details::words;

/// The sentence of an item that is not judged yet.
pub(super) const PENDING: &str = "Not judged yet: the machine decides first.";

/// Why a verdict was decided so.
pub(crate) fn of(verdict: &Verdict, why: Option<&Explanation>) -> String {
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
        Ground::Nothing => match unscored(why) {
            None => format!("{status} because no rule matched and nothing was left unchecked."),
            Some(unscored) => format!("{status} because no rule matched. {unscored}"),
        },
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

/// What rules want to know and no provider of the site can say. None: there is nothing.
fn unscored(why: &Explanation) -> Option<String> {
    let unscored: Vec<String> = Category::ALL
        .into_iter()
        .filter(|category| {
            let Unscored { text, image } = &why.unscored;
            text.contains(category) || image.contains(category)
        })
        .map(|category| category.to_string())
        .collect();
    (!unscored.is_empty()).then(|| {
        let unscored = unscored.join(", ");
        format!("Not checked, because no provider can score it: {unscored}.")
    })
}

/// The first rule that asked for it, and how many others did. Then what was not checked.
fn by_rules(why: &Explanation, effect: RuleEffect) -> String {
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
    let unchecked: Vec<String> = why.unchecked.iter().map(words).collect();
    let unchecked = match unchecked.as_slice() {
        [] => String::new(),
        unchecked => format!(" Not checked: {}.", unchecked.join("; ")),
    };
    match effect {
        RuleEffect::Reject => {
            format!("Rejected by the rule “{name}”{others}. {details}{unchecked}")
        }
        RuleEffect::Review => {
            format!("Waits for a person, as the rule “{name}”{others} asked. {details}{unchecked}")
        }
    }
}

fn by_policy(policy: OnFailure, unchecked: &[Unchecked]) -> String {
    let unchecked: Vec<String> = unchecked.iter().map(words).collect();
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
