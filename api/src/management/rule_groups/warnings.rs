//! What the author of rules should know, although they compile: a rule that asks for what nobody can score never matches.

use domain::{
    rules::{Rule, RuleKind},
    score::Category,
};
use poem_openapi::Object;
use serde::Serialize;
use serde_json::{Value, json};
use store::provider;

use crate::{management::session::Session, problem::Refusal};

/// Something that an author of rules should know.
#[derive(Serialize, Object)]
pub(in super::super) struct RuleWarning {
    /// The member that is meant, such as `rules[3].category`.
    field: String,
    /// What about it.
    message: String,
}

/// What is to be said of these rules.
pub(super) async fn warnings(
    session: &mut Session,
    rules: &[Rule],
) -> Result<Vec<RuleWarning>, Refusal> {
    let scorable = provider::scorable(session.conn()).await?;
    Ok(unscorable(rules, &scorable).map(RuleWarning::new).collect())
}

/// The enabled rules that ask for what nobody can score: the place of each, and what it asks for.
fn unscorable(rules: &[Rule], scorable: &[Category]) -> impl Iterator<Item = (usize, Category)> {
    rules.iter().enumerate().filter_map(|(place, rule)| {
        let asked = match &rule.kind {
            RuleKind::AiThreshold(threshold) if rule.enabled => threshold.category,
            RuleKind::AiThreshold(_)
            | RuleKind::Keyword(_)
            | RuleKind::Regex(_)
            | RuleKind::Link(_)
            | RuleKind::ImageHash(_) => return None,
        };
        (!scorable.contains(&asked)).then_some((place, asked))
    })
}

impl RuleWarning {
    fn new((place, category): (usize, Category)) -> Self {
        Self {
            field: format!("rules[{place}].category"),
            message: format!(
                "No configured provider can score `{category}`, so the rule never matches."
            ),
        }
    }
}

pub(super) fn example() -> Value {
    json!({
        "field": "rules[3].category",
        "message": "No configured provider can score `violence`, so the rule never matches.",
    })
}
